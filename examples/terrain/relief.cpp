// Slope and light of an elevation model, compiled at run time by terrain.py. Each work-group stages
// a tile of the model with a wide margin in local memory, because every cell looks at 200 others.
// SPDX-License-Identifier: Apache-2.0

// SAMPLE, the element type of the model, comes with the compiler's options: -DSAMPLE=int16_t

constexpr int tile = 16;                // cells of a work-group, in both directions
constexpr int reach = 12;               // how many cells away a hill still hides the sky
constexpr int side = tile + 2 * reach;  // the tile with its margin
constexpr float degrees = float(180 / usmx::pi);

// Sixteen directions in whole cells: the eight neighbours and the knight's moves between them.
constexpr int directions[16][2] = {{0, 1},  {1, 2},  {1, 1},  {2, 1},   {1, 0},   {2, -1},
                                   {1, -1}, {1, -2}, {0, -1}, {-1, -2}, {-1, -1}, {-2, -1},
                                   {-1, 0}, {-2, 1}, {-1, 1}, {-1, 2}};

constexpr int clamped(int i, int count) { return i < 0 ? 0 : i < count ? i : count - 1; }

// Brightness of a surface that rises by `east` and `north` per metre, under a sun in the given
// direction (a unit vector).
constexpr float lit(float east, float north, float length, float x, float y, float z) {
  const float light = (z - x * east - y * north) / length;
  return light > 0 ? light : 0;
}

/// rows, columns: of the model, row 0 in the north. dx, dy: metres between columns and rows.
/// slope: degrees. shade: 0 (dark) to 1, light from four sides. sky: the visible part of the sky.
USMX_KERNEL(2)
relief(const SAMPLE* elevation, int rows, int columns, float dx, float dy, float exaggeration,
       float* slope, float* shade, float* sky) {
  usmx::nd_item<2> item;
  usmx::local<float[side][side]> heights;

  const int first_row = int(item.get_group(0)) * tile - reach;
  const int first_column = int(item.get_group(1)) * tile - reach;
  for (int k = int(item.get_local_linear_id()); k < side * side; k += tile * tile) {
    const int r = clamped(first_row + k / side, rows);
    const int c = clamped(first_column + k % side, columns);
    heights[k / side][k % side] = float(elevation[r * columns + c]);
  }
  item.barrier();

  const int row = int(item.get_global_id(0)), column = int(item.get_global_id(1));
  if (row >= rows || column >= columns) return;
  const int y = int(item.get_local_id(0)) + reach, x = int(item.get_local_id(1)) + reach;
  const auto h = [&](int dr, int dc) { return heights[y + dr][x + dc]; };

  // Horn's third-order differences.
  const float east =
      ((h(-1, 1) + 2 * h(0, 1) + h(1, 1)) - (h(-1, -1) + 2 * h(0, -1) + h(1, -1))) / (8 * dx);
  const float north =
      ((h(-1, -1) + 2 * h(-1, 0) + h(-1, 1)) - (h(1, -1) + 2 * h(1, 0) + h(1, 1))) / (8 * dy);
  const int at = row * columns + column;
  slope[at] = usmx::atan(usmx::hypot(east, north)) * degrees;

  const float e = exaggeration * east, n = exaggeration * north;
  const float length = usmx::sqrt(1 + e * e + n * n);
  // From the north-west at 45 degrees, softened by fainter lights from west, north and south-west.
  shade[at] = 0.58f * lit(e, n, length, -0.5f, 0.5f, 0.70710678f) +
              0.17f * lit(e, n, length, -0.8660254f, 0, 0.5f) +
              0.17f * lit(e, n, length, 0, 0.8660254f, 0.5f) +
              0.08f * lit(e, n, length, -0.61237244f, -0.61237244f, 0.5f);

  float seen = 0;
  for (const auto& d : directions) {
    const float step = usmx::hypot(d[1] * dx, d[0] * dy);
    float steepest = 0;
    for (int k = 1;
         k * d[0] <= reach && k * d[0] >= -reach && k * d[1] <= reach && k * d[1] >= -reach; ++k) {
      steepest = usmx::max(steepest, (h(k * d[0], k * d[1]) - h(0, 0)) / (k * step));
    }
    const float up = exaggeration * steepest;
    seen += 1 - up / usmx::sqrt(1 + up * up);
  }
  sky[at] = seen / 16;
}
