// Trains a GPT on the tokens of a file, and lets it write: the program that
// examples/minigpt/minigpt writes, whose --help says what the options are.
// GT_CONFIG=tp2-pp4.yaml GT_WORKERS=8 spreads it over workers, see libgt(3).
#include <gt/nn.h>
#include <gt/optim.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nn = gt::nn;
using gt::Range;
using gt::Tensor;

namespace {

struct Options {
  std::map<std::string, std::string> words = {
      {"text", "text.npy"}, {"save", ""}, {"resume", ""}};
  std::map<std::string, double> numbers = {
      {"held", 65536}, {"vocab", 256},       {"layers", 8},
      {"hidden", 64},  {"heads", 4},         {"mlp", 0},
      {"seq-len", 64}, {"batch-size", 32},   {"microbatches", 8},
      {"steps", 120},  {"rounds", 3},        {"evaluate", 4},
      {"rate", 3e-3},  {"warmup", 20},       {"decay", 0.1},
      {"clip", 1},     {"dropout", 0.1},     {"recompute", 0},
      {"seed", 0},     {"steps-done", 0},    {"stop", 0},
      {"sample", 200}, {"temperature", 0.7}, {"stages", 0}};

  bool set(const std::string& name, const char* value) {
    if (const auto word = words.find(name); word != words.end()) {
      return word->second = value, true;
    }
    const auto number = numbers.find(name);
    if (number == numbers.end()) return false;
    return number->second = std::atof(value), true;
  }
  int64_t operator[](const char* name) const {
    return static_cast<int64_t>(numbers.at(name));
  }
  double real(const char* name) const { return numbers.at(name); }
  int64_t mlp() const {
    return (*this)["mlp"] > 0 ? (*this)["mlp"] : 4 * (*this)["hidden"];
  }
};

// ---- where lines belong -----------------------------------------------------

// The stage of a layer: of GT's demonstration, whose signals --stages takes.
int64_t stage(const Options& o, int64_t layer) {
  return layer * o["stages"] / o["layers"];
}

// The scope of a part of a layer; layer -1 is what stands before the first, and
// as many as there are what comes after the last.
gt::Signal signal(const Options& o, int64_t layer, const char* part) {
  const int64_t layers = o["layers"];
  std::string scope = layer < 0         ? "first"
                      : layer == layers ? "last"
                                        : "layer" + std::to_string(layer);
  std::string inner = part;
  if (o["stages"] > 0) {
    const int64_t within = std::min(std::max<int64_t>(layer, 0), layers - 1);
    scope = "pp_stage" + std::to_string(stage(o, within));
    inner = scope + '_' + part;
  }
  return gt::Signal(scope + '/' + inner);
}

// ---- the model --------------------------------------------------------------

nn::Init scaled(int64_t n) {
  return nn::init::normal(1 / std::sqrt(static_cast<double>(n)));
}

class Layer : public nn::Module {
 public:
  Layer(Module* parent, const std::string& name, const Options& o, int64_t i)
      : Module(parent, name),
        o_(o),
        number_(i),
        h_(o["hidden"]),
        norm1_(this, "norm1", h_),
        q_(parameter("q", {h_, h_}, scaled(h_))),
        k_(parameter("k", {h_, h_}, scaled(h_))),
        v_(parameter("v", {h_, h_}, scaled(h_))),
        // What adds to x begins smaller, the more layers there are.
        out_(parameter("out", {h_, h_}, scaled(2 * o["layers"] * h_))),
        norm2_(this, "norm2", h_),
        up_(parameter("up", {h_, o.mlp()}, scaled(h_))),
        down_(parameter("down", {o.mlp(), h_},
                        scaled(2 * o["layers"] * o.mlp()))) {}

  Tensor operator()(Tensor x) const {
    x = sum(x, matmul(attended(x), out_, "rowpar"));
    return sum(x, matmul(hidden(x), down_, "rowpar"));
  }

 private:
  Tensor attended(const Tensor& x) const {
    const Tensor h = normed(norm1_, x);
    Tensor qs = matmul(h, q_, "colpar"), ks = matmul(h, k_, "colpar");
    const Tensor vs = matmul(h, v_, "colpar");
    const gt::Signal scope = signal(o_, number_, "attention");
    qs = gt::rope(qs, {.heads = o_["heads"]});
    ks = gt::rope(ks, {.heads = o_["heads"]});
    return gt::attention(qs, ks, vs, {.causal = true, .heads = o_["heads"]});
  }
  Tensor hidden(const Tensor& x) const {
    const Tensor h = matmul(normed(norm2_, x), up_, "colpar");
    const gt::Signal scope = signal(o_, number_, "colpar");
    return gt::gelu(h, {.approximate = "tanh"});
  }
  Tensor normed(const nn::RMSNorm& norm, const Tensor& x) const {
    const gt::Signal scope = signal(o_, number_, "norm");
    return norm(x);
  }
  Tensor matmul(const Tensor& x, const Tensor& w, const char* part) const {
    const gt::Signal scope = signal(o_, number_, part);
    return gt::matmul(x, w);
  }
  Tensor sum(const Tensor& x, Tensor h) const {
    const gt::Signal scope = signal(o_, number_, "residual");
    const double p = is_training() ? o_.real("dropout") : 0;
    if (p > 0) h = gt::dropout(h, p);
    return x + h;
  }

  const Options& o_;
  int64_t number_, h_;
  nn::RMSNorm norm1_;
  Tensor q_, k_, v_, out_;
  nn::RMSNorm norm2_;
  Tensor up_, down_;
};

class Gpt : public nn::Module {
 public:
  explicit Gpt(const Options& o)
      : o_(o),
        table_(parameter("table", {o["vocab"], o["hidden"]},
                         nn::init::normal(0.02))),
        layers_(this, "layers") {
    for (int64_t i = 0; i < o["layers"]; ++i) layers_.add(o, i);
    norm_.emplace(this, "norm", o["hidden"]);
    head_ = parameter("head", {o["hidden"], o["vocab"]}, scaled(o["hidden"]));
  }
  // Logits from tokens.
  Tensor operator()(const Tensor& tokens) const {
    const auto count = static_cast<int64_t>(layers_.size());
    Tensor x;
    {
      const gt::Signal scope = signal(o_, -1, "table");
      x = gt::embedding(table_, tokens);
    }
    for (int64_t i = 0; i < count; ++i) {
      const int64_t before = stage(o_, i - 1), here = stage(o_, i);
      if (i > 0 && before != here) {
        const gt::Signal scope("stage" + std::to_string(before) + "_to_stage" +
                               std::to_string(here));
        x = x.copy();
      }
      std::optional<gt::Recompute> again;
      if (o_["recompute"] > 0) again.emplace();
      x = layers_[i](std::move(x));
    }
    {
      const gt::Signal scope = signal(o_, count, "norm");
      x = (*norm_)(x);
    }
    const gt::Signal scope = signal(o_, count, "colpar");
    return gt::matmul(x, head_);
  }
  // Those with so many dimensions: matrices, or what norms multiply with.
  std::vector<Tensor> weights(int64_t rank) const {
    std::vector<Tensor> out;
    for (const Tensor& w : parameters()) {
      if (w.rank() == rank) out.push_back(w);
    }
    return out;
  }

 private:
  const Options& o_;
  Tensor table_;
  nn::ModuleList<Layer> layers_;
  std::optional<nn::RMSNorm> norm_;
  Tensor head_;
};

// ---- data -------------------------------------------------------------------

// The tokens, and windows of them.
class Text {
 public:
  explicit Text(const Options& o)
      : o_(o),
        type_(gt::stored_type(o.words.at("text"))),
        tokens_(gt::load(o.words.at("text"), type_)),
        window_(gt::arange(gt::i64(o["seq-len"] + 1))) {}

  // A batch from what is not held out.
  Tensor anywhere() const {
    const int64_t last = length() - o_["held"] - o_["seq-len"];
    return windows((gt::rand({o_["batch-size"], 1}) * last).cast(gt::i64));
  }
  // A batch from what is held out.
  Tensor held_out(int64_t number) const {
    const int64_t rows = o_["batch-size"], size = o_["seq-len"];
    const int64_t first = length() - o_["held"] + number * rows * size;
    return windows(gt::arange(gt::i64(rows), first, size).reshape({rows, 1}));
  }
  // Of a batch, what is seen and what comes next.
  std::pair<Tensor, Tensor> rows(const Tensor& batch, int64_t first,
                                 int64_t end) const {
    const Range of(first, end);
    Tensor seen;
    {
      const gt::Signal scope = signal(o_, -1, "batch");
      seen = batch(of, Range::to(-1));
    }
    const gt::Signal scope = signal(o_, o_["layers"], "batch");
    return {seen, batch(of, Range::from(1))};
  }
  const Tensor& tokens() const { return tokens_; }
  int64_t length() const { return type_.shape[0]; }

 private:
  Tensor windows(const Tensor& start) const {
    const int64_t rows = o_["batch-size"], size = o_["seq-len"] + 1;
    const Tensor at = (start + window_).reshape({rows * size});
    return tokens_.gather(at).cast(gt::i64).reshape({rows, size});
  }

  const Options& o_;
  gt::Type type_;
  Tensor tokens_, window_;
};

// ---- training ---------------------------------------------------------------

class Training {
 public:
  explicit Training(const Options& o)
      : o_(o),
        model_(o),
        optimizer_(model_.weights(2), rate(o),
                   {.beta2 = 0.99, .decay = o.real("decay")}) {
    optimizer_.add(model_.weights(1), {.beta2 = 0.99, .decay = 0});
    if (const std::string& path = o.words.at("resume"); !path.empty()) {
      const Tensor random = gt::rng_state();
      gt::load(state(random), path);
      gt::set_rng_state(random);
    }
    text_.emplace(o);
  }

  void run() {
    const int64_t steps = o_["steps"], rounds = o_["rounds"];
    const int64_t last = o_["stop"] > 0 ? o_["stop"] : steps;
    int64_t done = o_["steps-done"];
    for (int64_t r = 1; r <= rounds; ++r) {
      const int64_t end = std::min(steps * r / rounds, last);
      if (done >= end) continue;
      for (; done < end; ++done) step();
      evaluate();
      if (const std::string& path = o_.words.at("save"); !path.empty()) {
        gt::save(state(gt::rng_state()), path);
      }
    }
    if (o_["sample"] > 0) write();
  }

 private:
  // Rises in a line, then falls along half a cosine.
  static gt::optim::Schedule rate(const Options& o) {
    const int64_t falling = std::max<int64_t>(o["steps"] - o["warmup"], 1);
    return gt::optim::cosine(o.real("rate"), falling, 0.1).warmup(o["warmup"]);
  }
  // All that changes from step to step.
  gt::StateDict state(const Tensor& random) const {
    return gt::joined(
        {model_.state_dict(), optimizer_.state_dict(), {{"random", random}}});
  }

  void step() {
    const int64_t parts = o_["microbatches"], size = o_["batch-size"] / parts;
    const Tensor batch = text_->anywhere();
    Tensor total;
    for (int64_t k = 0; k < parts; ++k) {
      const gt::Microbatch microbatch(static_cast<int>(k));
      const Tensor loss = loss_of(batch, k * size, (k + 1) * size, parts);
      loss.backward();
      const gt::Signal scope = signal(o_, o_["layers"], "loss");
      const Tensor value = loss.detach();
      total = total.defined() ? total + value : value;
    }
    optimizer_.clip_grad_norm(o_.real("clip"));
    optimizer_.step();
    optimizer_.zero_grad();
    total.print("loss");
  }

  // The loss of some rows, divided by the number of parts.
  Tensor loss_of(const Tensor& batch, int64_t first, int64_t end,
                 int64_t parts) const {
    const auto [seen, next] = text_->rows(batch, first, end);
    const Tensor logits = model_(seen);
    const gt::Signal scope = signal(o_, o_["layers"], "loss");
    const Tensor loss = gt::cross_entropy(logits, next);
    return parts > 0 ? loss / parts : loss;
  }

  // Prints the loss on the text that is held out.
  void evaluate() {
    const gt::NoGrad no_grad;
    model_.eval();
    Tensor held = gt::tensor(0.0F);
    for (int64_t i = 0; i < o_["evaluate"]; ++i) {
      held += loss_of(text_->held_out(i), 0, o_["batch-size"], 0);
    }
    (held / o_["evaluate"]).print("held");
    model_.train();
  }

  // Writes on from where the text that is held out begins: a token is drawn by
  // adding Gumbel noise to the logits and taking the largest.
  void write() {
    const gt::NoGrad no_grad;
    model_.eval();
    const int64_t size = o_["seq-len"], first = text_->length() - o_["held"];
    Tensor w = text_->tokens()({first, first + size}).cast(gt::i64);
    w.print("prompt");
    w = w.reshape({1, size});
    for (int64_t i = 0; i < o_["sample"]; ++i) {
      const Tensor z = model_(w)(0, size - 1) / o_.real("temperature");
      const Tensor noise = log(-log(gt::rand({o_["vocab"]})));
      const Tensor token = (z - noise).argmax();
      token.print("token");
      const Tensor next = token.reshape({1, 1});
      w = gt::concat({w(gt::_, Range::from(1)), next}, {.axis = 1});
    }
  }

  const Options& o_;
  Gpt model_;
  gt::optim::AdamW optimizer_;
  std::optional<Text> text_;
};

}  // namespace

int main(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (option.starts_with("--") && i + 1 < argc &&
        o.set(option.substr(2), argv[i + 1])) {
      continue;
    }
    std::cerr << "minigpt: no option '" << option << "', or no value for it\n";
    return 2;
  }
  gt::manual_seed(o["seed"]);
  Training(o).run();
}
