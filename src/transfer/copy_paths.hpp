// Who moves the elements: the host where it may, the device where it must, both by way of packed
// memory where neither reaches the other side.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "submission/command_chain.hpp"
#include "usmx/view.hpp"

namespace usmx::detail {

/// Both sides within reach of the chain's device, at least one of them not the host's alone.
void on_device(command_chain& commands, const any_view& dst, const any_view& src);
/// From device memory; `dst` is host memory of any layout and dtype. Where the host has to take
/// part after the device, this waits.
void to_host(command_chain& commands, const any_view& dst, const any_view& src);
/// To device memory; `src` is host memory of any layout and dtype. Elements that are converted are
/// read before this returns, others when the command runs.
void from_host(command_chain& commands, const any_view& dst, const any_view& src);

/// True if the elements fill their span: in some order, without gaps, each once.
bool is_dense(const any_view& v) noexcept;
bool overlap(const any_view& a, const any_view& b) noexcept;

}  // namespace usmx::detail
