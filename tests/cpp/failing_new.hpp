// Lets the nth `new` of a thread fail, to see that nothing is leaked when it throws. Its program
// has failing_new.cpp too, which replaces `new` everywhere in it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The n-th `new` of this thread from now fails; negative: none does.
extern thread_local int new_fails_in;
