"""Prices of options by the formula of Black and Scholes, with a device function."""

# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np

import usmx

RATE, VOLATILITY = 0.1, 0.2


@usmx.device_func
def normal(x):
    return 0.5 + 0.5 * math.erf(x / math.sqrt(2))


@usmx.kernel
def black_scholes(item, price, strike, years, call, put):
    i = item.get_id(0)
    deviation = VOLATILITY * math.sqrt(years[i])
    up = (math.log(price[i] / strike[i]) + RATE * years[i]) / deviation + 0.5 * deviation
    down = up - deviation
    discounted = strike[i] * math.exp(-RATE * years[i])
    call[i] = price[i] * normal(up) - discounted * normal(down)
    put[i] = call[i] - price[i] + discounted


def main():
    """A thousand options against the same formula in NumPy."""
    random = np.random.default_rng(3)
    price, strike, years = (random.uniform(a, b, 1000) for a, b in ((10, 50), (10, 50), (1, 2)))
    call, put = (usmx.empty(1000, dtype="f8") for _ in range(2))
    inputs = [usmx.asarray(x) for x in (price, strike, years)]
    black_scholes[1000](*inputs, call, put).wait()
    normal_of = np.vectorize(lambda x: 0.5 + 0.5 * math.erf(x / math.sqrt(2)))
    deviation = VOLATILITY * np.sqrt(years)
    up = (np.log(price / strike) + RATE * years) / deviation + 0.5 * deviation
    discounted = strike * np.exp(-RATE * years)
    wanted = price * normal_of(up) - discounted * normal_of(up - deviation)
    np.testing.assert_allclose(call.to_numpy(), wanted, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(put.to_numpy(), wanted - price + discounted, rtol=1e-9, atol=1e-9)
    print("black_scholes", call[:3].to_numpy())


if __name__ == "__main__":
    main()
