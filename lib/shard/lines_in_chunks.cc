// The part of LineRewriter that writes products in chunks (chunks.h).
#include <algorithm>

#include "base/message.h"
#include "ops/shape_rules.h"
#include "shard/line_rewriter.h"
#include "shard/line_trial.h"

namespace gt::shard {

// Remembers how the operand of a product is cut that the product gathers.
void LineRewriter::note_gathered(const LineWork& work) {
  if (work.call.op->row->weight_operand < 0 || work.plan().bytes == 0) return;
  const ShardValuePtr& operand = work.value(Chunking::kOperand);
  if (operand->held != nullptr) return;
  const Layout& wanted = work.plan().arguments[Chunking::kOperand];
  const Layout& own = operand->layout();
  const bool is_gathered = std::any_of(
      own.cuts.begin(), own.cuts.end(),
      [&](const AxisCut& cut) { return wanted.cut_of(cut.axis) == nullptr; });
  if (is_gathered) gathered_.note(operand->type.shape, own);
}

// Returns how the line is written in chunks, or nothing if it is not. The
// config's chunks: does not apply to steps of an expansion. An operand that
// waits is written, so that its layout is known.
std::optional<Chunking> LineRewriter::chunking_of(LineWork& work) {
  const int64_t wanted =
      config_.overlap() ? work.scope.chunks.value_or(config_.chunks()) : 1;
  if (wanted == 1 || work.at.depth > 0 || is_trial_ ||
      work.call.op->row->weight_operand < 0) {
    return std::nullopt;
  }
  materializer_.create_for(work.value(Chunking::kOperand),
                           work.plan().arguments[Chunking::kOperand], work.at);
  note_gathered(work);
  work.joins_sum = work.at.ahead != nullptr && !work.pin &&
                   work.plan().results[0].partial != 0 &&
                   LineTrial(*this, work).joins_sum(*work.planned);
  const auto chunking =
      choose_chunks(cluster_, config_.machine(), gathered_, work, wanted);
  if (chunking.ok()) return chunking.value();
  explanation_.add_whole(work, chunking.error().message);
  return std::nullopt;
}

// Every chunk is computed as the plan says of the whole. What the chunks are
// multiplied with is fetched once.
void LineRewriter::write_in_chunks(LineWork& work, const Chunking& chunking) {
  explanation_.add_chunks(work, chunking);
  LineContext at = work.at;
  at.passing.clear();
  ++at.depth;
  const std::vector<std::string> chunks = take_apart(work, chunking, at);
  if (chunking.is_gathered) gather(work, chunking, chunks, at);
  (void)fetch_operands(work, Chunking::kOperand + 1);
  const bool keeps = chunking.is_gathered && !at.regathers;
  std::vector<std::string> products;
  for (const std::string& chunk : chunks) {
    products.push_back(multiply(work, chunking, chunk, at));
    if (!keeps) drop_temporaries({chunk}, at);
  }
  if (keeps) {
    materializer_.keep_joined(work.value(Chunking::kOperand), chunks,
                              values_.find(chunks[0])->layout(), chunking, at);
    drop_temporaries(chunks, at);
  }
  materializer_.drop_passing(work);
  join(work, chunking, products, at);
}

// Writes the lines that split the operand into chunks. Returns the names of the
// chunks.
std::vector<std::string> LineRewriter::take_apart(const LineWork& work,
                                                  const Chunking& chunking,
                                                  LineContext& at) {
  const LabelDim& place = chunking.label.arguments[Chunking::kOperand];
  const Layout& whole = work.value(Chunking::kOperand)->layout();
  const Layout layout = chunking.of_chunk(whole, place);
  std::string from(work.call.arguments[Chunking::kOperand].text);
  if (chunking.ranks > 1) {
    const Shape& shape = work.call.type(Chunking::kOperand).shape;
    const std::string name = values_.new_name(at.space);
    write_local(name + " = reshape " + from + " shape=" +
                    list_text(chunking.viewed(shape, place)) + at.notes,
                whole, layout, at);
    from = name;
  }
  std::vector<std::string> names;
  for (int64_t k = 0; k < chunking.count; ++k) {
    names.push_back(values_.new_name(at.space));
  }
  write_local(chunking.split_text(names, from) + at.notes, layout, layout, at);
  if (chunking.ranks > 1) drop_temporaries({from}, at);
  return names;
}

// Gathers each chunk to the layout that the plan wants of the whole operand.
void LineRewriter::gather(const LineWork& work, const Chunking& chunking,
                          const std::vector<std::string>& chunks,
                          const LineContext& at) {
  const Layout wanted =
      chunking.of_chunk(work.plan()).arguments[Chunking::kOperand];
  for (const std::string& name : chunks) {
    materializer_.change(values_.find(name), wanted,
                         std::string(work.line.op) + " needs it so", at);
  }
}

// Writes the product of one chunk and, if it is summands, takes its sum.
// Returns its name.
std::string LineRewriter::multiply(const LineWork& work,
                                   const Chunking& chunking,
                                   const std::string& chunk,
                                   const LineContext& at) {
  const std::string name = values_.new_name(at.space);
  Line line = work.line;
  line.notes = shared_notes(line);
  line.results[0].text = name;
  line.operands[Chunking::kOperand].text = chunk;
  LineWork part{line, "", {}, at};
  GT_CHECK(find_values(part).ok() && bind(part).ok());
  part.scope = work.scope;
  part.set = work.set;
  part.sum_dtype = work.sum_dtype;
  const LabelDim& place = chunking.label.results[0];
  if (work.pin) part.pin = chunking.of_chunk(*work.pin, place);
  if (chunking.sum) part.sum = chunking.of_chunk(*chunking.sum, place);
  PlanCache::Entry planned{chunking.of_chunk(work.plan()), std::nullopt};
  part.planned = &planned;
  write_planned(part);
  return name;
}

// Joins the products to the line's result.
void LineRewriter::join(const LineWork& work, const Chunking& chunking,
                        const std::vector<std::string>& products,
                        LineContext& at) {
  const std::string name(work.line.results[0].text);
  const Type& type = work.call.results[0];
  materializer_.keep_for_readers(name, at);
  const Layout made =
      materializer_.join(products, values_.find(products[0])->layout(), name,
                         type, chunking, chunking.label.results[0], at);
  bind_result(name, type, made, at);
  drop_temporaries(products, at);
}

// Writes a line that moves nothing between ranks: it reads operands in the
// layout `from` and makes results in the layout `made`.
void LineRewriter::write_local(const std::string& text, const Layout& from,
                               const Layout& made, const LineContext& at) {
  Line line;
  GT_CHECK(parse_line(text, line).ok());
  LineWork work{line, "", {}, at};
  GT_CHECK(find_values(work).ok() && bind(work).ok());
  work.scope = {};
  work.set = made.set;
  PlanCache::Entry planned;
  planned.plan.arguments.assign(work.call.arguments.size(), from);
  planned.plan.results.assign(work.call.results.size(), made);
  work.planned = &planned;
  write_planned(work);
}

}  // namespace gt::shard
