// Configs: both forms, what they say of a line, and messages about wrong ones.
#include "shard/config.h"
#include "shard/recompute.h"

#include <gtest/gtest.h>

#include <fstream>
#include <utility>

#include "stream/ranks.h"

namespace gt::shard {
namespace {

std::string text_of(const std::optional<CutSetting>& setting) {
  if (!setting) return "none";
  std::string out;
  for (const SplitEntry& entry : setting->cuts) {
    out +=
        (out.empty() ? "" : ",") + entry.axis + ":" + std::to_string(entry.dim);
    if (entry.unit != 1) out += "*" + std::to_string(entry.unit);
  }
  return out;
}

std::string text_of(const Scope& scope) {
  std::string out = "shard=" + text_of(scope.shard);
  if (scope.results) out += " results=" + text_of(scope.results);
  if (scope.ranks) out += " ranks=" + to_string(*scope.ranks);
  if (scope.compile) out += *scope.compile ? " compile" : " no compile";
  if (scope.regather) out += *scope.regather ? " regather" : " keep";
  if (scope.chunks) out += " chunks=" + std::to_string(*scope.chunks);
  if (scope.recompute) {
    out += " recompute";
    for (const std::string& op : scope.recompute->ops) out += "," + op;
    out += "@" + scope.region;
  }
  if (scope.precision) {
    out += " precision=" + std::string(to_string(*scope.precision));
  }
  if (scope.sums) out += " sums=" + std::string(to_string(*scope.sums));
  return out;
}

Config config_of(std::string_view text, int64_t workers = 0) {
  Result<Config> config = Config::parse(text, "c.yaml", workers);
  EXPECT_TRUE(config.ok()) << config.error().message;
  return std::move(config.value());
}

std::string scope_of(const Config& config, std::string_view signal,
                     bool is_backward = false) {
  const Result<Scope> scope = config.find(signal, is_backward);
  return scope.ok() ? text_of(scope.value()) : scope.error().message;
}

std::string error_of(std::string_view text, int64_t workers = 0) {
  const Result<Config> config = Config::parse(text, "c.yaml", workers);
  return config.ok() ? "" : config.error().message;
}

constexpr std::string_view kGt = R"(
# stage 0
pp_stage0:
  shard: {axis: 0, workers: [0, 1]}
  backward: pp_stage0_bwd
pp_stage0_bwd:
  shard: {axis: 0, workers: [2, 3]}
colpar:
  shard: {axis: 1}
  compile: true
bias:
  shard:
    axis: 0
    workers: null  # all
    replicated: true
here: {workers: [3], backward: null}
)";

TEST(Config, ReadsGtsOwnersForm) {
  const Config config = config_of(kGt);
  EXPECT_EQ(config.mesh().describe(), "workers=4");
  EXPECT_EQ(scope_of(config, "pp_stage0"), "shard=workers:0 ranks=0-1");
  EXPECT_EQ(scope_of(config, "pp_stage0", true), "shard=workers:0 ranks=2-3");
  EXPECT_EQ(scope_of(config, "pp_stage0/colpar"),
            "shard=workers:1 ranks=0-1 compile");
  EXPECT_EQ(scope_of(config, "pp_stage0/colpar", true),
            "shard=workers:1 ranks=2-3 compile");
  EXPECT_EQ(scope_of(config, "pp_stage0/bias"), "shard= ranks=0-3");
  EXPECT_EQ(scope_of(config, "pp_stage0/x/here/y"), "shard=workers:0 ranks=3");
  EXPECT_EQ(scope_of(config, "here", true), "shard=none ranks=3");
  EXPECT_EQ(scope_of(config, "nobody/knows"), "shard=none");
  EXPECT_EQ(scope_of(config, ""), "shard=none");
}

TEST(Config, CountsWorkers) {
  EXPECT_EQ(config_of(kGt, 8).mesh().describe(), "workers=8");
  EXPECT_EQ(config_of("a: {compile: true}").mesh().describe(), "workers=1");
  EXPECT_EQ(config_of("a: {shard: {}}", 3).mesh().describe(), "workers=3");
  EXPECT_EQ(config_of("a: {workers: 0-5:2}").mesh().describe(), "workers=5");
  EXPECT_EQ(error_of("a:\n  workers: [0, 4]\n", 4),
            "c.yaml:2: signal 'a': workers: 4 is not there; they are 0 to 3 in "
            "mesh workers=4");
  EXPECT_EQ(error_of("a: {shard: {axis: 1}}"),
            "c.yaml:1: signal 'a': shard: over all workers, but nothing says "
            "how many there are; name them in workers:, or give -n");
}

constexpr std::string_view kOwn = R"(mesh: {pp: 2, dp: 2, tp: 2}
signals:
  batch: {shard: {dp: 0}}
  colpar: {shard: {tp: -1*64}, backward: plain}
  plain: {shard: {}}
  both: {shard: {tp: 0, dp: 0}}
  stage0: {on: {pp: 0}, compile: true}
  stage1: {on: {pp: 1}, regather: true}
  layer: {recompute: [attention, gelu]}
  head: {recompute: true}
  tail: {recompute: false}
  seq: {results: {tp: 1}, compile: false, precision: f16}
  part: {on: {pp: [0, 1], tp: 0}}
  few: {workers: [6, 4], chunks: auto, sums: f32}
  stage1/colpar: {shard: {dp+tp: 0}}
tensors:
  wq: {shard: {tp: 1}}
  w*: {shard: {tp: 0}, on: {pp: 1}}
machine: {flops: 1e12, memory: 16e9}
regather: true
overlap: false
chunks: 8
sums: bf16
precision: bf16
)";

TEST(Config, ReadsNamedAxes) {
  const Config config = config_of(kOwn);
  EXPECT_EQ(config.mesh().describe(), "pp=2 dp=2 tp=2");
  EXPECT_EQ(scope_of(config, "colpar"), "shard=tp:-1*64");
  EXPECT_EQ(scope_of(config, "colpar", true), "shard=");
  EXPECT_EQ(scope_of(config, "both"), "shard=tp:0,dp:0");
  EXPECT_EQ(scope_of(config, "stage0"), "shard=none ranks=0-3 compile");
  EXPECT_EQ(scope_of(config, "part"), "shard=none ranks=0-6:2");
  EXPECT_EQ(config.machine().flops, 1e12);
  EXPECT_EQ(config.machine().memory, 16e9);
  EXPECT_TRUE(config.regather());
  EXPECT_FALSE(config.overlap());
  EXPECT_EQ(config.chunks(), 8);
  EXPECT_EQ(config.sums(), Dtype::kBf16);
  EXPECT_EQ(config.precision(), Dtype::kBf16);
  EXPECT_FALSE(config.schedule());
  EXPECT_EQ(config.find("batch", false).value().shard->line, 3u);
}

TEST(Config, ARegionOfRecomputeIsTheScopeThatSaysIt) {
  const Config config = config_of(kOwn);
  EXPECT_TRUE(config.has_recompute());
  EXPECT_FALSE(config_of("mesh: {tp: 2}").has_recompute());
  EXPECT_EQ(scope_of(config, "l3/layer/mlp"),
            "shard=none recompute,attention,gelu@l3/layer");
  EXPECT_EQ(scope_of(config, "layer/head"), "shard=none recompute@layer/head");
  const auto region = read_regions(kOwn, "c.yaml", nullptr);
  ASSERT_TRUE(region.ok());
  const auto of = [&](const char* text) {
    Line line;
    EXPECT_TRUE(parse_line(text, line).ok());
    return region.value()(line);
  };
  EXPECT_EQ(of("y = gelu x #signal=l3/layer"), "l3/layer");
  EXPECT_EQ(of("y = relu x #signal=l3/layer"), "");
  EXPECT_EQ(of("y = relu x #signal=head/a"), "head");
  EXPECT_EQ(of("y = relu x #signal=head/tail"), "");
  EXPECT_EQ(of("y = relu x"), "");
  EXPECT_EQ(of("w = randn f32[2] 1 #signal=head"), "");
  EXPECT_EQ(of("w = sgd w g 0.1 #signal=head"), "");
  EXPECT_EQ(of("print x #signal=head"), "");
  // How many ranks there are does not matter here.
  EXPECT_TRUE(
      read_regions("signals: {a: {recompute: true}}", "c", nullptr).ok());
  EXPECT_TRUE(
      read_regions("a: {workers: [7], recompute: true}", "c", nullptr).ok());
  EXPECT_FALSE(read_regions("mesh: {tp: 2}\nx: {}", "c", nullptr).ok());
}

TEST(Config, AMachineIsWrittenAsItIsRead) {
  EXPECT_EQ(machine_yaml({}), "");
  Machine machine;
  machine.latency = 2.5e-7;
  machine.memory = 16e9;
  EXPECT_EQ(machine_yaml(machine),
            "machine: {latency: 2.5e-07, memory: 16000000000}\n");
  machine.flops = machine.bandwidth = machine.memory_bandwidth = 1.25e12;
  const Machine read =
      config_of("mesh: {tp: 2}\n" + machine_yaml(machine)).machine();
  EXPECT_EQ(machine_yaml(read), machine_yaml(machine));
  EXPECT_EQ(read.bandwidth, 1.25e12);
}

TEST(Config, ScopesAddUpFromTheOutermostIn) {
  const Config config = config_of(kOwn);
  EXPECT_EQ(scope_of(config, "stage0/batch/seq"),
            "shard=dp:0 results=tp:1 ranks=0-3 no compile precision=f16");
  EXPECT_EQ(scope_of(config, "stage1/part"), "shard=none ranks=4,6 regather");
  EXPECT_EQ(scope_of(config, "stage1/few"),
            "shard=none ranks=4,6 regather chunks=0 sums=f32");
  // The entry with the longer name is the more particular one.
  EXPECT_EQ(scope_of(config, "stage1/colpar"),
            "shard=dp+tp:0 ranks=4-7 regather");
  EXPECT_EQ(scope_of(config, "a/stage1/colpar/b"),
            "shard=dp+tp:0 ranks=4-7 regather");
  EXPECT_EQ(scope_of(config, "stage0/colpar"),
            "shard=tp:-1*64 ranks=0-3 compile");
}

TEST(Config, ScopesThatContradictAreReported) {
  const Config config = config_of(kOwn);
  EXPECT_EQ(scope_of(config, "stage0/stage1"),
            "c.yaml:8: signal 'stage1': on pp=1, but within signal 'stage0' "
            "(line 7), which is on pp=0");
  EXPECT_EQ(scope_of(config, "stage1/part/few/stage0").substr(0, 9),
            "c.yaml:7:");
  EXPECT_EQ(scope_of(config, "stage0/few"),
            "c.yaml:14: signal 'few': on ranks 4,6, but within scopes on ranks "
            "0-3");
  const Config cut = config_of(
      "mesh: {pp: 2}\nsignals:\n  a: {on: {pp: 1}}\n  b: {shard: {pp: 0}}\n");
  EXPECT_EQ(scope_of(cut, "a/b"),
            "c.yaml:4: signal 'b': shard over pp cuts nothing on pp=1, where "
            "signal 'a' (line 3) runs");
  // In GT's form the innermost scope wins.
  EXPECT_EQ(scope_of(config_of(kGt), "pp_stage0_bwd/here"),
            "shard=workers:0 ranks=3");
}

TEST(Config, NamesTakeTheFirstPattern) {
  const Config config = config_of(kOwn);
  EXPECT_EQ(text_of(*config.tensor("wq")), "shard=tp:1");
  EXPECT_EQ(text_of(*config.tensor("w2")), "shard=tp:0 ranks=4-7");
  EXPECT_EQ(config.tensor("x"), nullptr);
}

TEST(Config, EntriesThatNoLineUsesAreReported) {
  const Config config = config_of(
      "mesh: {tp: 2}\nsignals:\n  colpr: {shard: {tp: 1}, backward: b}\n"
      "  a: {shard: {tp: 0}, backward: b}\n  b: {}\n  c: {}\n"
      "tensors:\n  w*: {shard: {tp: 0}}\n");
  EXPECT_EQ(scope_of(config, "colpar/a"), "shard=tp:0");
  const std::vector<std::string> wanted = {
      "c.yaml:3: signal 'colpr' is used by no line; did you mean 'colpar'?",
      "c.yaml:6: signal 'c' is used by no line",
      "c.yaml:8: 'w*' matches no tensor's name, or only those that a pattern "
      "above it matches"};
  EXPECT_EQ(config.unused(), wanted);
}

TEST(Config, EmptyOnesChangeNothing) {
  for (const char* text : {"", "# nothing\n", "{}", "---\n", "\n\n", "~"}) {
    EXPECT_TRUE(config_of(text).is_empty()) << text;
    EXPECT_EQ(config_of(text, 2).mesh().describe(), "workers=2") << text;
  }
  EXPECT_FALSE(config_of("mesh: {tp: 2}").is_empty());
}

TEST(Config, AliasesStandForWhatTheyName) {
  const Config config = config_of(
      "a: &a\n  shard: &s {axis: 1, workers: [0, 1]}\nb: {shard: *s}\nc: *a\n");
  EXPECT_EQ(scope_of(config, "c"), "shard=workers:1 ranks=0-1");
  EXPECT_EQ(scope_of(config, "b"), "shard=workers:1 ranks=0-1");
}

struct Bad {
  const char* text;
  const char* message;
};

constexpr Bad kBadGt[] = {
    {"a:\n  shrad: {axis: 1}\n",
     "c.yaml:2: signal 'a': unknown key 'shrad'; expected shard, workers, "
     "backward, compile, sums, precision, recompute or optional; did you mean "
     "'shard'?"},
    {"a: {shard: {tp: 1}}",
     "c.yaml:1: signal 'a': unknown key 'tp'; expected axis, workers or "
     "replicated (named axes need a mesh:)"},
    {"a: {shard: {axis: one}}",
     "c.yaml:1: signal 'a': expected a dimension such as 0, 1 or -1, got "
     "'one'"},
    {"a: {shard: {axis: 8, workers: 0}}",
     "c.yaml:1: signal 'a': expected a dimension such as 0, 1 or -1, got "
     "'8'"},
    {"a: {shard: {axis: 0, workers: 2}}",
     "c.yaml:1: signal 'a': shard: cuts nothing on worker 2 alone; workers: "
     "names them, such as [0, 1], and -n says how many there are; write [2] if "
     "that one is meant"},
    {"a: {shard: {workers: [0, 0]}}",
     "c.yaml:1: signal 'a': workers: 0 stands twice"},
    {"a: {shard: {workers: []}}",
     "c.yaml:1: signal 'a': expected workers, at least one, got a list"},
    {"a:\n  shard: {workers: [0, 1]}\n  workers: [2]\n",
     "c.yaml:3: signal 'a': ranks 2 here, but 0-1 in line 2"},
    {"a:\n  shard: {replicated: true,\n          axis: 1, workers: 0}\n",
     "c.yaml:3: signal 'a': shard: axis: 1 cuts what replicated: true copies "
     "whole; leave out one"},
    {"a: {}\nb: {backward: b}\n",
     "c.yaml:2: signal 'b': backward: names the entry itself, which backward "
     "lines take anyway; leave it out"},
    {"a: {backward: bw}\nbwd: {}\n",
     "c.yaml:1: signal 'a': backward: no entry 'bw'; did you mean 'bwd'?"},
    {"a: {compile: yes}",
     "c.yaml:1: signal 'a': expected true or false, got 'yes'"},
    {"a:\n\nb: {}\n",
     "c.yaml:1: signal 'a': expected a map such as {shard: {axis: 1, "
     "workers: [0, 1]}}, got nothing"},
    {"- a\n- b\n",
     "c.yaml:1: expected a map of signals, such as colpar: {shard: {axis: "
     "1}}, got a list"},
    {"a: {}\nb: {}\na: {}\n",
     "c.yaml:3: key 'a' stands twice, first in line 1"},
};

constexpr Bad kBadOwn[] = {
    {"mesh: {tp: 2}\nsignls: {}\n",
     "c.yaml:2: unknown key 'signls'; expected mesh, signals, tensors, "
     "schedule, machine, regather, ring, overlap, chunks, sums or precision; "
     "did "
     "you mean 'signals'?"},
    {"mesh: {tp: 2}\ncolpar:\n  shard: {axis: 1}\n",
     "c.yaml:2: 'colpar' is a signal in GT's form, beside which there is no "
     "mesh:, signals: or tensors:; put it under signals: and name its axis, as "
     "in shard: {tp: 0}"},
    {"signals: {a: {}}\n",
     "c.yaml:1: no mesh; say mesh: {tp: 2}, or the number of workers with "
     "-n"},
    {"mesh: {}", "c.yaml:1: mesh: names no axes, such as {dp: 2, tp: 4}"},
    {"mesh: {tp: 02}\n",
     "c.yaml:1: mesh: expected a number of ranks along tp, from 1 to 65536, "
     "got '02'"},
    {"mesh: {tp:2}\n",
     "c.yaml:1: mesh: 'tp:2' has no value; YAML wants a blank after ':', as "
     "in 'tp: 2'"},
    {"mesh: {tp: 2}\nsignals: {a: {shard: {tp:1}}}\n",
     "c.yaml:2: signal 'a': 'tp:1' has no value; YAML wants a blank after "
     "':', as in 'tp: 1'"},
    {"mesh: {tp: 2}\nsignals: {a: {shard: {TP: 1}}}\n",
     "c.yaml:2: signal 'a': no axis 'TP' in mesh tp=2; did you mean 'tp'?"},
    {"msh: {tp: 2}\nsignals: {a: {shard: {tp: 1}}}\n",
     "c.yaml:1: unknown key 'msh'; expected mesh, signals, tensors, schedule, "
     "machine, regather, ring, overlap, chunks, sums or precision; did you "
     "mean "
     "'mesh'?"},
    {"mesh: {tp: 2}\n# A note.\n%signals: {a: {shard: {tp: 1}}}\n",
     "c.yaml:3: is no YAML: '%' begins no line here; put the word into "
     "quotes, or leave it out"},
    {"signals:\n  a: &a {shard: {tp: 1}}\n  b: {<<: *a}\nmesh: {tp: 2}\n",
     "c.yaml:3: a merge key; a config has none, say what it stands for"},
    {"mesh: {tp: 2}\nsums: fp16\n",
     "c.yaml:2: sums: expected f32, bf16 or f16, got 'fp16'; did you mean "
     "'f16'?"},
    {"mesh: {tp: 2}\nsignals: {a: {recompute: yes}}\n",
     "c.yaml:2: signal 'a': expected true, false or ops such as [attention, "
     "gelu], got 'yes'"},
    {"mesh: {tp: 2}\nsignals: {a: {recompute: [atention]}}\n",
     "c.yaml:2: signal 'a': recompute: no op 'atention'; did you mean "
     "'attention'?"},
    {"mesh: {tp: 2}\ntensors: {w: {recompute: true}}\n",
     "c.yaml:2: tensor 'w': recompute is said of signals only"},
    {"mesh: {tp: 2}\nsignals: {a: {precision: half}}\n",
     "c.yaml:2: signal 'a': expected f32, bf16 or f16, got 'half'"},
    {"mesh: {tp: 2}\ntensors: {w: {sums: bf16}}\n",
     "c.yaml:2: tensor 'w': sums is said of signals only"},
    {"mesh: 4",
     "c.yaml:1: mesh: expected a map such as {dp: 2, tp: 4}, got '4'"},
    {"mesh: {dp: 0}",
     "c.yaml:1: mesh: expected a number of ranks along dp, from 1 to 65536, "
     "got '0'"},
    {"mesh: {dp: 300, tp: 300}",
     "c.yaml:1: mesh: more than 65536 ranks or 32 axes"},
    {"mesh: {d p: 2}",
     "c.yaml:1: mesh: 'd p' is no name of an axis such as dp"},
    {"mesh: {tp: 2}\nsignals:\n  a: {shard: {pt: 1}}\n",
     "c.yaml:3: signal 'a': no axis 'pt' in mesh tp=2; did you mean "
     "'tp'?"},
    {"mesh: {tp: 2}\nsignals:\n  a: {shard: {axis: 1}}\n",
     "c.yaml:3: signal 'a': no axis 'axis' in mesh tp=2; that key is of GT's "
     "form, which has no mesh:"},
    {"mesh: {dp: 2, tp: 2}\nsignals:\n  a: {shard: {tp: 1, dp+tp: 0}}\n",
     "c.yaml:3: signal 'a': axis tp is named twice: it can cut a tensor "
     "once"},
    {"mesh: {tp: 2}\nsignals:\n  a: {shard: {tp: 1, tp: 0}}\n",
     "c.yaml:3: key 'tp' stands twice, first in line 3"},
    {"mesh: {tp: 2}\nsignals:\n  a: {shard: {tp: '1,tp:0'}}\n",
     "c.yaml:3: signal 'a': expected the dimension that tp cuts, such as 1, "
     "-1, or 1*64 in units of 64, got '1,tp:0'"},
    {"mesh: {tp: 2}\nsignals:\n  a: {shard: {tp: }}\n",
     "c.yaml:3: signal 'a': expected the dimension that tp cuts, such as 1, "
     "-1, or 1*64 in units of 64, got nothing"},
    {"mesh: {tp: 2}\nsignals:\n  a: {shard: 1}\n",
     "c.yaml:3: signal 'a': expected a map such as {tp: 1}, or {} for a copy "
     "on every rank, got '1'"},
    {"mesh: {pp: 2}\nsignals:\n  a: {on: {pp: 2}}\n",
     "c.yaml:3: signal 'a': coordinates: 2 is not there; they are 0 to 1 in "
     "mesh pp=2"},
    {"mesh: {pp: 2}\nsignals:\n  a: {on: {dq: 0}}\n",
     "c.yaml:3: signal 'a': no axis 'dq' in mesh pp=2"},
    {"mesh: {pp: 2}\nsignals:\n  a: {on: {pp: 1}, workers: [0]}\n",
     "c.yaml:3: signal 'a': ranks 0 here, but 1 in line 3"},
    {"mesh: {pp: 2}\nsignals:\n  a: {on: {pp: 1}, shard: {pp: 0}}\n",
     "c.yaml:3: signal 'a': shard over pp cuts nothing on pp=1, where it "
     "runs"},
    {"mesh: {dp: 2, tp: 2}\nsignals:\n  a: {workers: [1, 3], shard: {tp: 0}}\n",
     "c.yaml:3: signal 'a': shard over tp cuts nothing where it runs: ranks "
     "1,3 (line 3) do not differ in tp; take other ranks, or leave it out"},
    {"mesh: {dp: 2, tp: 2}\ntensors:\n  a: {workers: [0, 3], results: {tp: 0}}"
     "\n",
     "c.yaml:3: tensor 'a': results over tp cuts nothing where it runs: ranks "
     "0,3 (line 3) are no block of mesh dp=2 tp=2, so that each has all of a "
     "tensor; take other ranks, or leave it out"},
    {"mesh: {tp: 2}\ntensors:\n  w: {backward: x}\n",
     "c.yaml:3: tensor 'w': backward is said of signals only"},
    {"mesh: {tp: 2}\ntensors:\n  w?: {shard: {tp: 0}}\n",
     "c.yaml:3: tensor 'w?': is no name, nor names with '*' such as w*"},
    {"mesh: {tp: 2}\nschedule: {kind: f1b1}\n",
     "c.yaml:2: schedule: expected gpipe, 1f1b, interleaved, zb-h1, zb-h2 or "
     "zb-v, got 'f1b1'"},
    {"mesh: {tp: 2}\nschedule: {kind: zbv}\n",
     "c.yaml:2: schedule: expected gpipe, 1f1b, interleaved, zb-h1, zb-h2 or "
     "zb-v, got 'zbv'; did you mean 'zb-v'?"},
    {"mesh: {tp: 2}\nschedule: {window: 4}\n",
     "c.yaml:2: schedule: says no kind, such as 1f1b"},
    {"mesh: {tp: 2}\nmachine: {flops: fast}\n",
     "c.yaml:2: machine: expected operations a second, such as 1e12, got "
     "'fast'"},
    {"mesh: {tp: 2}\nmachine: {flop: 1}\n",
     "c.yaml:2: machine: unknown key 'flop'; expected flops, "
     "memory_bandwidth, bandwidth, latency or memory; did you mean "
     "'flops'?"},
};

TEST(Config, FaultsAreReportedWithTheirLine) {
  for (const Bad& bad : kBadGt) EXPECT_EQ(error_of(bad.text), bad.message);
  for (const Bad& bad : kBadOwn) EXPECT_EQ(error_of(bad.text), bad.message);
  EXPECT_EQ(error_of("mesh: {dp: 2, tp: 4}\n", 4),
            "c.yaml:1: mesh dp=2 tp=4 has 8 ranks, and -n says 4");
}

TEST(Config, TextThatIsNoYamlIsReported) {
  EXPECT_EQ(error_of("a: {b}: {}\n").substr(0, 22), "c.yaml:1: is no YAML: ");
  // If something has no end, the message says where it began.
  for (const char* text :
       {"a: {}\nb: {\n", "a: {}\nb: {", "a: {}\nb: {c: 1,\n  d: 2\n\n",
        "a: {}\nb: {c: [1,\n 2]\n", "a: {}\nb: [1, \"c\n"}) {
    EXPECT_EQ(error_of(text).substr(0, 51),
              "c.yaml:2: is no YAML: what begins here has no end (")
        << text;
  }
  EXPECT_EQ(error_of("a:\n \tshard: {}\n"),
            "c.yaml:2: a tab; YAML is indented by blanks");
  EXPECT_EQ(error_of("a: {}\n\xff\n"), "c.yaml:2: is not UTF-8");
  EXPECT_EQ(error_of(std::string_view("a: {}\nb\0c: {}\n", 14)),
            "c.yaml:2: a control byte");
  EXPECT_EQ(error_of("a: !!python/object:os.system {}\n").substr(0, 18),
            "c.yaml:1: a tag, '");
  EXPECT_EQ(error_of("a: {}\n---\nb: {}\n"),
            "c.yaml:2: a second document begins; a config is one");
  EXPECT_EQ(error_of("a: {}\n? [x]\n: {}\n"), "c.yaml:2: a key must be a word");
  EXPECT_EQ(error_of("a: &a {shard: *a}\n"),
            "c.yaml:1: an alias within what it stands for");
}

TEST(Config, BombsDoNotGoOff) {
  std::string laughs = "a0: &a0 [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string below = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 9; ++j) laughs += below + ", ";
    laughs += below + "]\n";
  }
  EXPECT_NE(error_of(laughs).find("more than 200000 values"),
            std::string::npos);
  EXPECT_NE(error_of("a: " + std::string(100, '[')).find("more than 16 levels"),
            std::string::npos);
  EXPECT_EQ(error_of(std::string(50'000, '[')).substr(0, 9), "c.yaml:1:");
  EXPECT_EQ(error_of(std::string((1 << 20) + 1, ' ')),
            "c.yaml: is larger than 1 MiB, the most of a config");
  std::string ranks;
  for (int i = 0; i < 100; ++i) {
    ranks += "a" + std::to_string(i) + ": {workers: 0-65535}\n";
  }
  EXPECT_EQ(error_of(ranks),
            "c.yaml:65: signal 'a64': the entries name more than 4194304 ranks "
            "in all");
}

// These are the blocks of gt-config(5) whose first comment names a file.
TEST(Config, TheManualsExamplesAreRead) {
  std::ifstream page(GT_SOURCE_DIR "/man/gt-config.5");
  ASSERT_TRUE(page);
  std::string text;
  int read = 0;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with(".Pa ") && line.ends_with(".yaml :")) {
      std::getline(page, line);
      text = "#\n";
    } else if (line == ".Ed" && !text.empty()) {
      EXPECT_EQ(error_of(std::exchange(text, "")), "");
      ++read;
    } else if (!text.empty()) {
      text += line + "\n";
    }
  }
  EXPECT_EQ(read, 5);
}

TEST(Config, ErrorsHaveTheirColumn) {
  std::string_view culprit;
  const Result<Config> config = Config::parse(
      "a: {}\r\nb: {shrad: 1}\r\nc: {}\r\n", "c.yaml", 0, &culprit);
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(culprit, "b: {shrad: 1}");
  EXPECT_EQ(config.error().column, 5u);
}

}  // namespace
}  // namespace gt::shard
