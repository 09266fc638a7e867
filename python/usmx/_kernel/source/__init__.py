"""Where the text of a Python function is found, and errors that point into it."""
# SPDX-License-Identifier: Apache-2.0
