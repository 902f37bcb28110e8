// Handwritten digits, as examples/digits.sh: a classifier with one hidden
// layer. Rows 0 to 1499 are for training, the other 297 are held out; the last
// line is the share of these that it gets right.
//
//   digits [EPOCHS [FILE.safetensors]]
//
// runs where share/ is, and on a cluster, to which the files are sent. From the
// file, if it is there, training goes on where
// it ended, and to it goes what it needs for that: examples/cpp/serve.cc reads
// the weights in it.
#include <gt/nn.h>
#include <gt/optim.h>

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "digits.h"

int main(int argc, char** argv) {
  const int epochs = argc > 1 ? std::atoi(argv[1]) : 40;
  const std::string images = "share/digits/images.npy";
  const std::string labels = "share/digits/labels.npy";
  for (const std::string& path : {images, labels}) gt::send(path);

  const Digits model("digits");
  gt::optim::AdamW optimizer(model.parameters(), 0.003);
  gt::Batches batches({images, labels}, 100, {.rows = 1500});
  const gt::StateDict state = gt::joined(
      {model.state_dict(), optimizer.state_dict(), batches.state_dict()});
  if (argc > 2 && access(argv[2], R_OK) == 0) {
    gt::send(argv[2]);
    gt::load(state, argv[2]);
  }

  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (int64_t i = 0; i < batches.steps(); ++i) {
      const auto batch = batches.next();
      const gt::Tensor loss = gt::cross_entropy(model(batch[0]), batch[1]);
      loss.backward();
      optimizer.step();
      optimizer.zero_grad();
      if (i == batches.steps() - 1) loss.print("loss");
    }
  }

  const gt::Tensor guess =
      model(gt::load_rows(images, 1500, 297)).argmax({.axis = 1});
  const gt::Tensor right = guess == gt::load_rows(labels, 1500, 297);
  right.cast(gt::f32).mean().print("accuracy");
  if (argc > 2) {
    gt::save(state, argv[2]);
    gt::fetch(argv[2]);
  }
}
