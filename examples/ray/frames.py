"""Two actors of Ray work on the frames of a third: no frame is copied, and each says where it was.

```
Camera ── a reference ──> Edges: writes into the frame ──> Camera sees it
   └───── a reference ──> Light: sums it
```

    pip install ray && python frames.py [picture.png]

The picture (of Pillow) is the frame as the camera sees it after the others have written into it.

A reference is passed on when its frame is there: Ray 2.60 may never deliver one that is passed on
earlier.
"""

# SPDX-License-Identifier: Apache-2.0
import os
import sys
from typing import Any

import ray

import usmx.ray

SHAPE = (480, 640)
usmx.ray.register()  # before the classes, whose methods name the transport


@ray.remote(num_cpus=0)
class Camera:
    """Makes frames in memory that other processes open."""

    @ray.method(tensor_transport="usmx")
    def shoot(self, number: int) -> Any:
        """A frame with a bright square."""
        self.frame = usmx.ipc.empty(SHAPE, "float32")
        self.frame[100:200, 100 + number : 200 + number] = 1
        return self.frame

    def draw(self, path: str) -> None:
        """Save what is in the last frame."""
        from PIL import Image

        grey = (self.frame.clip(0, 2) * 127).astype("uint8").to_numpy()
        Image.fromarray(grey).save(path, optimize=True)

    def look(self) -> tuple[int, float]:
        """This process, and the brightest element of the last frame."""
        return os.getpid(), float(self.frame.max())


@ray.remote(num_cpus=0)
class Light:
    """Measures frames."""

    def measure(self, frame: Any) -> tuple[int, float]:
        """This process, and the light in a frame."""
        return os.getpid(), float(frame.sum())


@ray.remote(num_cpus=0)
class Edges:
    """Marks the edges of what is in a frame, in place."""

    def mark(self, frame: Any) -> tuple[int, int]:
        """This process, and how many elements are edges."""
        edges = abs(frame[:, 1:] - frame[:, :-1]) > 0.5
        frame[:, 1:][edges] = 9
        return os.getpid(), int(edges.sum())


def main() -> None:
    """One frame, three processes, one memory."""
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    camera, light, edges = Camera.remote(), Light.remote(), Edges.remote()
    frame = usmx.ray.wait(camera.shoot.remote(7))
    first, sum_of_light = ray.get(light.measure.remote(frame))
    second, count = ray.get(edges.mark.remote(frame))
    third, brightest = ray.get(camera.look.remote())
    print(f"light {sum_of_light:.0f}, edges {count}, brightest after that {brightest:.0f}")
    print(f"{len({first, second, third})} processes, one frame")
    if len(sys.argv) > 1:
        ray.get(camera.draw.remote(os.path.abspath(sys.argv[1])))
    ray.shutdown()


if __name__ == "__main__":
    main()
