"""Arrays in files that are larger than memory: computed piece by piece, with the next ones read
ahead.

``sources`` read pieces of files, ``stream`` brings them to the device in order, ``array`` is what
users see, ``results`` writes files.
"""
# SPDX-License-Identifier: Apache-2.0
