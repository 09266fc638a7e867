"""Languages of other projects, so that their programs run after changing an import."""
# SPDX-License-Identifier: Apache-2.0
