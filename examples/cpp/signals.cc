// One program, to be run as any config says: its lines are in two signals,
// hidden and out, within a third for the batch.
//
//   signals [STEPS]
//   GT_WORKERS=2 GT_CONFIG=configs/data-parallel.yaml signals
//   GT_WORKERS=2 GT_CONFIG=configs/tensor-parallel.yaml signals
//   GT_WORKERS=4 GT_CONFIG=configs/mixed.yaml signals
#include <gt/nn.h>
#include <gt/optim.h>

#include <cstdlib>

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 5;
  const gt::nn::MLP model(nullptr, "mlp", 32, 64);  // carries the signals
  gt::optim::SGD optimizer(model.parameters(), 0.5, {.momentum = 0.5});
  for (int step = 0; step < steps; ++step) {
    gt::Tensor x, target;
    {
      const gt::Signal batch("batch");
      x = gt::randn({16, 32}, 7);
      target = sin(x);
    }
    const gt::Tensor loss = gt::mse(model(x), target);
    loss.backward();
    optimizer.step();
    optimizer.zero_grad();
    loss.print("loss");
  }
}
