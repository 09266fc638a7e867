"""What all suites in Python share: how many of their cases a run has."""
# SPDX-License-Identifier: Apache-2.0

pytest_plugins = ["depths"]
