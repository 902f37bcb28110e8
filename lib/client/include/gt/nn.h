// Modules: gt::nn. See gt/module.h, gt/layers.h and gt/transformer.h.
#pragma once

#include <gt/layers.h>
#include <gt/module.h>
#include <gt/transformer.h>
