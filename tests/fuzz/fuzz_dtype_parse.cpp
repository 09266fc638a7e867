// Any bytes as a type string: the verdict must be the plain table's, an accepted type must read its
// own spelling back, and a record made of such types must be as large as its parts.
// SPDX-License-Identifier: Apache-2.0
#include "input.hpp"
#include "naive_suai.hpp"

using usmx::dtype;
using usmx::fault;

namespace {

// Raw bytes seldom spell a type; half of the inputs are put together from the right letters.
std::string spell(input& in) {
  const std::uint8_t how = in.byte();
  if (how % 2 == 0) return in.text(how / 2);
  std::string s;
  s += "<>|=<<<!"[in.below(8)];
  s += "biufcVOSUTmMtxVV"[in.below(16)];
  for (unsigned n = in.below(12) + 1; n > 0 && !in.empty(); --n)
    s += "0123456789481216[]s\0"[in.below(20)];
  return s;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  input in(data, size);
  dtype::fields members;
  while (!in.empty() && members.size() < 8) {
    const std::string typestr = spell(in);
    dtype type;
    const naive::element wanted = naive::read_typestr(typestr);
    const fault found = dtype::parse(typestr, type);
    if (found != wanted.fault) broken("the table says otherwise about " + typestr);
    if (found != fault::none) {
      if (!(type == dtype())) broken("a fault changed the result of " + typestr);
      continue;
    }
    if (type.itemsize() != wanted.size) broken("another size: " + typestr);
    if (type.alignment() != wanted.alignment) broken("another alignment: " + typestr);
    dtype again;
    if (dtype::parse(type.typestr(), again) != fault::none || !(again == type)) {
      broken("does not read its own spelling: " + typestr);
    }
    if (type.name().empty()) broken("no name: " + typestr);
    usmx::field member{in.text(in.below(3)), in.text(in.below(2)), type, {}};
    for (unsigned rank = in.below(4); rank > 0; --rank) member.shape.push_back(in.number());
    members.push_back(member);
  }
  // The size that would be right, and one that is not.
  std::size_t bytes = 0;
  if (dtype::packed_size(members, bytes) != fault::none) bytes = in.raw();
  for (const std::size_t promised : {bytes, bytes + 1}) {
    dtype record;
    const fault found = dtype::make_record(members, promised, record);
    if (found != naive::check_fields(members, static_cast<naive::wide>(promised))) {
      broken("the model says otherwise about a record");
    }
    if (found != fault::none) continue;
    if (record.itemsize() != promised) broken("a record of another size");
    if (!record.members() || *record.members() != members) broken("a record lost its fields");
  }
  return 0;
}
