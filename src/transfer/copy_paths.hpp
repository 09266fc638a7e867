// The paths of a copy: by the host where it can access both sides, by the device where it can, and
// through packed memory otherwise.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "submission/command_chain.hpp"
#include "usmx/view.hpp"

namespace usmx::detail {

/// The chain's device can access both sides, of which at least one is not plain host memory.
void on_device(command_chain& commands, const any_view& dst, const any_view& src);
/// From device memory; `dst` is host memory of any layout and dtype. Waits if the host must
/// convert after the device.
void to_host(command_chain& commands, const any_view& dst, const any_view& src);
/// To device memory; `src` is host memory of any layout and dtype. Elements that are converted are
/// read before this returns, others when the command runs.
void from_host(command_chain& commands, const any_view& dst, const any_view& src);

/// True if the elements fill their span: contiguous in some order of the dimensions, each once.
bool is_dense(const any_view& v);

}  // namespace usmx::detail
