// Answers requests from a trained model: each line of standard input has the 64
// pixels of an image, 0 to 1, and gets a line with the digit that it shows.
//
//   digits 40 m.safetensors; serve m.safetensors <requests
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "digits.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: serve FILE.safetensors\n";
    return 2;
  }
  Digits model("digits");
  model.load(argv[1]);
  model.eval();
  const gt::NoGrad no_grad;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::vector<float> pixels;
    for (float pixel; words >> pixel;) pixels.push_back(pixel);
    try {
      const gt::Tensor scores = model(gt::tensor(pixels, {1, 64}));
      std::cout << scores.argmax().item<int>() << std::endl;
    } catch (const gt::Error& error) {
      std::cout << "error: " << error.what() << std::endl;
    }
  }
}
