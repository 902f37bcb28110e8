#include "exec/comm/direct_moves.h"

#include <algorithm>

namespace gt::exec::comm {
namespace {

// The most messages about steps that this worker has not reached yet. A worker
// that sends more is not a correct one.
constexpr size_t kMostTaken = size_t{1} << 16;

}  // namespace

Status DirectMoves::take(unsigned from, const PeerMessage& message) {
  if (taken_.size() >= kMostTaken) return Error{"it takes too much"};
  auto taken = parse_taken(message.body);
  if (!taken.ok()) return taken.error();
  const bool is_new =
      taken_.try_emplace({message.tag, from}, std::move(taken.value())).second;
  return is_new ? ok_status() : Status(Error{"it takes a step twice"});
}

void DirectMoves::pass(const ExchangeRun& run) {
  const Tag next{run.seq, run.exchange->group + 1, 0, 0};
  taken_.erase(taken_.begin(), taken_.lower_bound({next, 0}));
}

void DirectMoves::bring(ExchangeRun& run, size_t step) {
  brought_.clear();
  if (!link_.is_on() || !device_.has_data()) return;
  imports_.begin(run);
  const std::vector<unsigned> readers = this->readers(run, step);
  const bool sums = could_add(run, step);
  ask(run, step, sums);
  if (!meet(run, step, readers)) return;
  if (sums && all_could(run, step)) {
    add(run, step);
  } else {
    exchange(run, step, readers);
  }
}

void DirectMoves::exchange(ExchangeRun& run, size_t step,
                           const std::vector<unsigned>& readers) {
  Group group;
  Status s = add_receives(run, step, group);
  for (const unsigned reader : readers) {
    if (s.ok()) s = add_sends(run, step, reader, group);
  }
  const PeerGroup::Awaited what{run.where.line, run.seq,
                                "values from device to device"};
  const bool is_empty = group.sends.empty() && group.receives.empty();
  if (!s.ok()) {
    link_.break_off(s.error().message);
  } else if (!is_empty && link_.move(what, group.sends, group.receives)) {
    brought_.insert(group.inputs.begin(), group.inputs.end());
  }
  for (const Pack& pack : group.packs) device_.release(pack.data, pack.bytes);
}

// ---- the meeting ------------------------------------------------------------

// Calls use(input, pack) for each input that should come by the link.
template <typename Use>
void DirectMoves::each_wanted(const ExchangeRun& run, size_t step,
                              const Use& use) const {
  const std::vector<Target>& targets = run.exchange->parts[step].targets;
  for (size_t t = 0; t < targets.size(); ++t) {
    const ExchangeRun::Made& made = run.made[step][t];
    if (!made.is_wanted()) continue;
    for (size_t i = 0; i < targets[t].inputs.size(); ++i) {
      const Input& input = targets[t].inputs[i];
      if (input.own >= 0 || !link_.joins(input.worker) ||
          input.region.bytes() == 0) {
        continue;
      }
      void* pack = made.pack(targets[t], i);
      if (pack != nullptr) use(input, pack);
    }
  }
}

// Returns the workers to which values of the step may go.
std::vector<unsigned> DirectMoves::readers(const ExchangeRun& run,
                                           size_t step) const {
  std::set<unsigned> out;
  for (const Export& shown : run.exchange->parts[step].exports) {
    if (shown.type.bytes() == 0) continue;
    for (const unsigned reader : shown.readers) {
      if (link_.joins(reader)) out.insert(reader);
    }
  }
  return {out.begin(), out.end()};
}

// Tells each owner what this worker takes, even if that is nothing, since the
// owner waits for it.
void DirectMoves::ask(const ExchangeRun& run, size_t step, bool sums) {
  std::map<unsigned, std::string> wanted;
  for (const unsigned owner : run.exchange->parts[step].owners) {
    if (link_.joins(owner)) wanted[owner];
  }
  each_wanted(run, step, [&](const Input& input, void* /*pack*/) {
    wanted[input.worker] +=
        to_text(TakenRegion{input.source, input.start, input.count});
  });
  for (const auto& [owner, regions] : wanted) {
    PeerMessage message;
    message.kind = PeerMessage::Kind::kTake;
    message.tag = run.tag(step, 0);
    const std::string body = (sums ? std::string(kTakenSum) : "") + regions;
    message.body = body;
    peers_.send(owner, message);
  }
}

bool DirectMoves::has_answered(unsigned reader, const ExchangeRun& run,
                               size_t step) const {
  if (taken_.contains({run.tag(step, 0), reader})) return true;
  // The reader has passed the step without reading, as happens if only it has
  // rejected the line.
  const std::vector<Export>& exports = run.exchange->parts[step].exports;
  return std::none_of(exports.begin(), exports.end(), [&](const Export& e) {
    return e.type.bytes() > 0 &&
           exports_.is_shown(reader, run.tag(step, e.source));
  });
}

// Waits for the inputs and for the readers. False if the link broke meanwhile.
bool DirectMoves::meet(const ExchangeRun& run, size_t step,
                       const std::vector<unsigned>& readers) {
  std::vector<const Input*> inputs;
  each_wanted(run, step, [&](const Input& input, void* /*pack*/) {
    inputs.push_back(&input);
  });
  for (const Input* input : inputs) {
    if (!link_.is_on() || imports_.await(run, step, *input) != nullptr) {
      return false;
    }
  }
  for (const unsigned reader : readers) {
    const PeerGroup::Awaited what{
        run.where.line, run.seq,
        peers_.name_of(reader) + " to take what it reads"};
    const Fault fault = peers_.await(reader, what, [&] {
      return !link_.is_on() || has_answered(reader, run, step);
    });
    if (fault != nullptr) return false;
  }
  return link_.is_on();
}

// ---- what is added ----------------------------------------------------------

// True if the step is a sum that the link can add, as far as this worker knows.
bool DirectMoves::could_add(const ExchangeRun& run, size_t step) const {
  const Part& part = run.exchange->parts[step];
  if (!part.sum || !link_.group_of(part.sum->workers)) return false;
  if (part.exports.size() != 1 || part.targets.size() != 1) return false;
  const ExchangeRun::Made& made = run.made[step][0];
  const ExchangeRun::Exported own = run.exported(step, 0);
  return made.is_wanted() && made.output != nullptr && own.fault == nullptr &&
         own.data != nullptr && own.data != made.output->data;
}

bool DirectMoves::all_could(const ExchangeRun& run, size_t step) const {
  const Workers& workers = run.exchange->parts[step].sum->workers;
  return std::all_of(workers.begin(), workers.end(), [&](unsigned worker) {
    const auto it = taken_.find({run.tag(step, 0), worker});
    return worker == peers_.self() || (it != taken_.end() && it->second.sums);
  });
}

// Returns the address of the summand with its parts in the order that the link
// needs: where it lies, or a copy in `pack`.
Result<const void*> DirectMoves::summand(const Sum& sum, const void* data,
                                         size_t bytes, Pack& pack) {
  const bool is_in_order =
      std::all_of(sum.parts.begin(), sum.parts.end(),
                  [](const Runs& runs) { return runs.is_contiguous(); });
  if (is_in_order) return data;
  pack = {device_.allocate(bytes), bytes};
  if (pack.data == nullptr) return Error{"there is no memory on the device"};
  char* to = static_cast<char*>(pack.data);
  for (const Runs& runs : sum.parts) {
    const auto found = runs.find(data, to, device_);
    if (!found.ok()) return found.error();
    if (found.value() != to) {
      const Status s = device_.copy(found.value(), to, runs.bytes());
      if (!s.ok()) return s.error();
    }
    to += runs.bytes();
  }
  return pack.data;
}

void DirectMoves::add(ExchangeRun& run, size_t step) {
  const Part& part = run.exchange->parts[step];
  ExchangeRun::Made& made = run.made[step][0];
  const Type& type = part.exports[0].type;
  DeviceLink::Sum sum;
  sum.group = link_.group_of(part.sum->workers).value_or(0);
  sum.dtype = type.dtype;
  sum.result = made.output->data;
  sum.count = static_cast<size_t>(type.elements());
  for (const Runs& runs : part.sum->parts) {
    sum.parts.push_back(runs.bytes() /
                        static_cast<size_t>(size_of(type.dtype)));
  }
  for (const Input& input : part.targets[0].inputs) {
    if (input.own < 0) user_->arrived(input, true);
  }
  Pack pack;
  const auto data =
      summand(*part.sum, run.exported(step, 0).data, type.bytes(), pack);
  Status s = ok_status();
  if (data.ok()) {
    sum.data = data.value();
    s = link_.add({run.where.line, run.seq, "a sum of devices"}, sum);
  } else {
    s = data.error();
    link_.break_off(data.error().message);
  }
  if (pack.data != nullptr) device_.release(pack.data, pack.bytes);
  made.is_added = true;
  if (!s.ok()) {
    made.fault = run.fail("the devices' sum failed: " + s.error().message);
  }
}

// ---- what is moved ----------------------------------------------------------

Status DirectMoves::add_receives(const ExchangeRun& run, size_t step,
                                 Group& group) const {
  Status s = ok_status();
  each_wanted(run, step, [&](const Input& input, void* pack) {
    if (imports_.has_failed(run, step, input)) return;
    if (!imports_.is_sound(run, step, input)) {
      s = Error{"workers differ about the type of a value"};
    }
    user_->arrived(input, true);
    group.receives.push_back({input.worker, pack, input.region.bytes()});
    group.inputs.push_back(&input);
  });
  return s;
}

Status DirectMoves::add_sends(const ExchangeRun& run, size_t step,
                              unsigned reader, Group& group) {
  const auto it = taken_.find({run.tag(step, 0), reader});
  if (it == taken_.end()) return ok_status();
  const std::vector<Export>& exports = run.exchange->parts[step].exports;
  for (const TakenRegion& region : it->second.regions) {
    const auto shown =
        std::find_if(exports.begin(), exports.end(), [&](const Export& e) {
          return e.source == region.source &&
                 std::find(e.readers.begin(), e.readers.end(), reader) !=
                     e.readers.end();
        });
    if (shown == exports.end() ||
        !Runs::fits(shown->type, region.start, region.count)) {
      return Error{peers_.name_of(reader) + " takes what it was not shown"};
    }
    const ExchangeRun::Exported value =
        run.exported(step, static_cast<size_t>(shown - exports.begin()));
    if (value.fault != nullptr) continue;
    if (Status s = add_send(*shown, value.data, region, reader, group);
        !s.ok()) {
      return s;
    }
  }
  return ok_status();
}

Status DirectMoves::add_send(const Export& shown, const void* data,
                             const TakenRegion& region, unsigned reader,
                             Group& group) {
  const Runs runs(shown.type, region.start, region.count);
  Pack pack;
  if (!runs.is_contiguous()) {
    pack = {device_.allocate(runs.bytes()), runs.bytes()};
    if (pack.data == nullptr) {
      return Error{"there is no memory on the device to send " +
                   std::to_string(pack.bytes) + " bytes from"};
    }
    group.packs.push_back(pack);
  }
  const auto found = runs.find(data, pack.data, device_);
  if (!found.ok()) return found.error();
  void* from = const_cast<void*>(found.value());  // NOLINT: only read
  group.sends.push_back({reader, from, runs.bytes()});
  return ok_status();
}

}  // namespace gt::exec::comm
