// The functions of Session for gradients: which values require one, backward,
// and the history that it walks.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/io.h"
#include "client/call_text.h"
#include "client/failure.h"
#include "client/session.h"

namespace gt::client {

void Session::require_grad(gt_value& value, bool is_on) {
  const Channel::Lock lock = channel_.enter();
  if (is_on == (value.leaf != kNoLeaf)) return;
  if (!is_on) return leaves_.remove(value);
  if (!is_float(table_.type(value.type).dtype)) {
    fail(GT_WRONG, "'" + value.name.text + "' is " + type_text(*value.shown) +
                       ", and only floats have gradients");
  }
  if (value.reach != Reaches::kNone) {
    fail(GT_WRONG, "'" + value.name.text +
                       "' is computed from what requires a gradient: ask for "
                       "the gradient by it with grad(), or detach it");
  }
  leaves_.add(value);
}

void Session::backward(gt_value& loss, bool retain, gt_place at) {
  Channel::Lock lock = channel_.enter();
  std::vector<gt_value*> targets = leaves_.in(loss.reach);
  if (targets.empty()) {
    fail(GT_WRONG,
         "backward: nothing that requires a gradient went into '" +
             loss.name.text +
             "', or its history is gone (a first backward takes it unless it "
             "retains it)");
  }
  if (loss.shown->rank != 0) {
    fail(GT_WRONG, "backward: '" + loss.name.text + "' is " +
                       type_text(*loss.shown) +
                       ", and a gradient is that of a scalar");
  }
  std::vector<gt_word> operands = {{GT_VALUE, {.value = &loss}, 0}};
  for (gt_value* target : targets) {
    operands.push_back({GT_VALUE, {.value = target}, 0});
  }
  const gt_key key = {"retain", {GT_INTEGER, {.integer = 1}, 0}};
  gt_instruction call{};
  call.op = "grad";
  call.operands = operands.data();
  call.operand_count = operands.size();
  call.keys = &key;
  call.key_count = retain ? 1 : 0;
  call.result_count = targets.size();
  call.at = at;
  std::vector<gt_value*> made(targets.size());
  write_call(call, made.data(), lock);
  if (!retain) loss.reach = Reaches::kNone;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (targets[i]->gradient == nullptr) {
      targets[i]->gradient = made[i];
      continue;
    }
    const gt_word both[] = {{GT_VALUE, {.value = targets[i]->gradient}, 0},
                            {GT_VALUE, {.value = made[i]}, 0}};
    gt_instruction add{};
    add.op = "add";
    add.operands = both;
    add.operand_count = 2;
    add.result_count = 1;
    add.into = &targets[i]->gradient;
    add.at = at;
    gt_value* sum = nullptr;
    write_call(add, &sum, lock);
    if (made[i]->owners.fetch_sub(1) == 1) drop_locked(made[i]);
  }
}

void Session::set_gradient(gt_value& value, gt_value* gradient) {
  const Channel::Lock lock(channel_.mutex());
  if (gradient != nullptr && checked(gradient).type != value.type) {
    fail(GT_WRONG, "'" + value.name.text + "' is " + type_text(*value.shown) +
                       ", and its gradient cannot be " +
                       type_text(*gradient->shown));
  }
  gt_value* old = std::exchange(value.gradient, gradient);
  if (old != nullptr && old->owners.fetch_sub(1) == 1) drop_locked(old);
}

std::string Session::tape(gt_value& value) {
  constexpr std::string_view kHead = "#sync tape:";
  Channel::Lock lock = channel_.enter();
  channel_.open_back();
  begin_lines();
  text_ += "#tape " + value.name.text + "\n" + kSync;
  const auto answer = std::make_shared<std::string>();
  const auto take = [answer, kHead](std::string_view line) {
    if (line.starts_with(kHead)) *answer += line.substr(kHead.size());
  };
  channel_.ask_lines(text_, take, lock);
  std::string out;
  for (size_t i = 0; i < answer->size(); ++i) {
    const bool is_escape = (*answer)[i] == '%' && i + 2 < answer->size();
    if (!is_escape) {
      out += (*answer)[i];
      continue;
    }
    out += static_cast<char>(std::stoi(answer->substr(i + 1, 2), nullptr, 16));
    i += 2;
  }
  return out;
}

std::string Session::dot(gt_value& value) {
  const std::string text = tape(value);
  Pipeline log;
  value_or_fail(log.start({{program_path("gt-log"), "--dot"}}, false), GT_LOST);
  std::string out;
  int error = write_all(log.lines().get(), text);
  log.lines() = Fd();
  if (error == 0) error = read_whole(log.results().get(), out);
  const Exit status = log.wait();
  if (error == 0 && status == Exit::kDone) return out;
  fail(GT_LOST,
       "gt-log could not draw the graph: " +
           (error != 0 ? std::string(std::strerror(error)) : log.ended()));
}

}  // namespace gt::client
