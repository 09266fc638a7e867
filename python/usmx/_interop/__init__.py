"""What usmx registers with other libraries, which load it themselves."""
# SPDX-License-Identifier: Apache-2.0
