#include "spmd/collective.h"

#include <charconv>
#include <unordered_map>

#include "base/message.h"
#include "spmd/group_writer.h"
#include "stream/line.h"

namespace gt {

Result<GroupProgram> GroupWriter::write() {
  program_.results = n_;
  const std::string& op = call_.op->name;
  Status s = ok_status();
  if (op == "all_reduce") {
    s = all_reduce();
  } else if (op == "reduce") {
    s = reduce();
  } else if (op == "broadcast") {
    s = broadcast();
  } else if (op == "remesh") {
    s = same();
  } else {
    s = by_ends();
  }
  if (!s.ok()) return s.error();
  return std::move(program_);
}

Status GroupWriter::need_alike() const {
  for (size_t i = 1; i < n_; ++i) {
    if (group_.pieces[i] == type()) continue;
    return Error{"the pieces must have one type; found " + to_string(type()) +
                 " and " + to_string(group_.pieces[i])};
  }
  return ok_status();
}

Result<std::string> GroupWriter::combine(std::string_view how) {
  if (Status s = need_alike(); !s.ok()) return s.error();
  const bool is_mean = how == "mean";
  if (is_mean && !is_float(type().dtype)) {
    return Error{"op=mean needs floats, got " + to_string(type())};
  }
  const char* op = how == "max"    ? "maximum"
                   : how == "min"  ? "minimum"
                   : how == "prod" ? "mul"
                                   : "add";
  std::vector<std::string> names;
  const std::string_view acc = call_.key("acc");
  for (size_t i = 0; i < n_; ++i) {
    names.push_back(piece(i));
    if (acc.empty() || acc == to_string(type().dtype)) continue;
    names.back() = fresh();
    line(names.back() + " = cast " + piece(i) + " " + std::string(acc));
  }
  std::string value = tree(names, 0, n_, op);
  if (is_mean) {
    const std::string mean = fresh();
    line(mean + " = div " + value + " " + std::to_string(n_));
    value = mean;
  }
  return cast_out(value);
}

std::string GroupWriter::tree(const std::vector<std::string>& names,
                              size_t begin, size_t end, const char* op) {
  if (end - begin == 1) return names[begin];
  const size_t middle = begin + (end - begin + 1) / 2;
  const std::string left = tree(names, begin, middle, op);
  const std::string right = tree(names, middle, end, op);
  std::string sum = fresh();
  line(sum + " = " + op + " " + left + " " + right);
  return sum;
}

std::string GroupWriter::cast_out(const std::string& value) {
  const std::string_view out = call_.key("out");
  if (out.empty()) return value;
  std::string cast = fresh();
  line(cast + " = cast " + value + " " + std::string(out));
  return cast;
}

Status GroupWriter::all_reduce() {
  const auto src = parse_end(call_.key("src"));
  const auto dst = parse_end(call_.key("dst"));
  if (!src.ok()) return src.error();
  if (!dst.ok()) return dst.error();
  const char from = src.value().letter;
  const char to = dst.value().letter;
  if ((from != 'P' && from != 'V') || (to != 'R' && to != 'I')) {
    return no_such_ends("P or V to R or I");
  }
  auto value = combine(call_.key("op"));
  if (!value.ok()) return value.error();
  give_all(value.value());
  return ok_status();
}

Result<size_t> GroupWriter::root() const {
  const int64_t r = call_.integer("root");
  if (r >= 0 && r < static_cast<int64_t>(n_)) return static_cast<size_t>(r);
  return Error{"root=" + std::to_string(r) + " is no index in a group of " +
               std::to_string(n_)};
}

Status GroupWriter::reduce() {
  const auto to = root();
  if (!to.ok()) return to.error();
  auto value = combine(call_.key("op"));
  if (!value.ok()) return value.error();
  const std::string out(call_.key("out"));
  const std::string acc(call_.key("acc"));
  const std::string& dtype = out.empty() ? acc : out;
  const Type zeros{dtype.empty() ? type().dtype : *parse_dtype(dtype),
                   type().shape};
  for (size_t i = 0; i < n_; ++i) {
    line(result(i) + (i == to.value() ? " = copy " + value.value()
                                      : " = zeros " + to_string(zeros)));
  }
  return ok_status();
}

Status GroupWriter::broadcast() {
  const auto from = root();
  if (!from.ok()) return from.error();
  give_all(piece(from.value()));
  return ok_status();
}

Status GroupWriter::by_ends() {
  const auto src = parse_end(call_.key("src"));
  const auto dst = parse_end(call_.key("dst"));
  if (!src.ok()) return src.error();
  if (!dst.ok()) return dst.error();
  src_ = src.value();
  dst_ = dst.value();
  const std::string& op = call_.op->name;
  if (op == "all_gather") return all_gather();
  if (op == "reduce_scatter") return reduce_scatter();
  if (op == "all_to_all") return all_to_all();
  if (op == "convert") return convert();
  if (op == "reinterpret") return reinterpret();
  if (op == "retype") return same();
  return redistribute();
}

Status GroupWriter::redistribute() {
  const char from = src_.letter;
  const char to = dst_.letter;
  if (from == to && (from != 'S' || src_.dim == dst_.dim)) return same();
  if (is_one_of(from, "VS") && is_one_of(to, "RI")) return all_gather();
  if (from == 'P' && is_one_of(to, "RI")) return summed();
  if (from == 'P' && is_one_of(to, "VS")) return reduce_scatter();
  if (from == 'S' && to == 'S') return all_to_all();
  if (from == 'V' && to == 'S') return no_such_ends("a V whose dim is known");
  return convert_known();
}

Status GroupWriter::summed() {
  auto value = combine(call_.key("op"));
  if (!value.ok()) return value.error();
  give_all(value.value());
  return ok_status();
}

Result<End> parse_end(std::string_view text) {
  if (text.size() == 1 &&
      std::string_view("RIVP").find(text[0]) != std::string_view::npos) {
    return End{text[0], 0};
  }
  End end{'S', 0};
  if (text.size() > 1 && text[0] == 'S') {
    const char* last = text.data() + text.size();
    const auto [next, error] = std::from_chars(text.data() + 1, last, end.dim);
    if (error == std::errc{} && next == last) return end;
  }
  return Error{"'" + excerpt(text) + "' is none of R, I, V, P, S0, S1, S-1"};
}

Result<GroupProgram> collective_program(const Call& call,
                                        const GroupShapes& group) {
  return GroupWriter(call, group).write();
}

Result<std::vector<Type>> program_types(const GroupProgram& program,
                                        const std::vector<Type>& arguments) {
  std::unordered_map<std::string, Type> types;
  for (size_t i = 0; i < arguments.size(); ++i) {
    types["a" + std::to_string(i)] = arguments[i];
  }
  Line line;
  Call call;
  for (const std::string& text : program.lines) {
    if (Status s = parse_line(text, line); !s.ok()) return s.error();
    std::vector<const Type*> operands;
    for (const Operand& operand : line.operands) {
      const auto it = types.find(std::string(operand.text));
      operands.push_back(it == types.end() ? nullptr : &it->second);
    }
    if (Status s = gt::bind(line, operands, call); !s.ok()) {
      return Error{s.error().message};
    }
    types[std::string(line.results[0].text)] = call.results[0];
  }
  std::vector<Type> results;
  for (size_t i = 0; i < program.results; ++i) {
    results.push_back(types.at("r" + std::to_string(i)));
  }
  return results;
}

}  // namespace gt
