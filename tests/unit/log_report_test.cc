// The parts of gt-log's reports: escapes, quantities, axes, and series.
#include <gtest/gtest.h>

#include <cmath>

#include "base/units.h"
#include "log/axis.h"
#include "log/escape.h"
#include "log/plot.h"
#include "log/series.h"

namespace gt::log {
namespace {

TEST(Escape, GivesValidTextOfItsFormat) {
  EXPECT_EQ(xml_text("a<b & \"c\">\n"), "a&lt;b &amp; &quot;c&quot;&gt;\n");
  EXPECT_EQ(json_text("a\"\\\n\t"), "a\\\"\\\\\\n\xef\xbf\xbd");
  EXPECT_EQ(dot_text("\"\\N&"), "\\\"\\\\N&amp;");
  EXPECT_EQ(xml_text("z\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80"),
            "z\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80");
}

TEST(Escape, WhatIsNoUtf8IsReplaced) {
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(xml_text("\xff"
                     "a"),
            bad + "a");
  EXPECT_EQ(xml_text("\xc3"), bad);                      // cut short
  EXPECT_EQ(xml_text("\xc0\x80"), bad + bad);            // overlong
  EXPECT_EQ(xml_text("\xe0\x80\x80"), bad + bad + bad);  // overlong
  EXPECT_EQ(xml_text("\xed\xa0\x80"), bad + bad + bad);  // a surrogate
  EXPECT_EQ(xml_text("\xf5\x80\x80\x80"), bad + bad + bad + bad);
  EXPECT_EQ(xml_text(std::string("\0\x7f", 2)), bad + bad);
}

TEST(Units, ThreeDigitsAndAUnit) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1000), "1 k");
  EXPECT_EQ(count_text(1234), "1.23 k");
  EXPECT_EQ(count_text(999'999), "1.00 M");
  EXPECT_EQ(count_text(3.45e25), "34500000 E");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1536), "1.50 KiB");
  EXPECT_EQ(time_text(12'345'678), "12.3 ms");
  EXPECT_EQ(time_text(3.6e12), "3600 s");
  EXPECT_EQ(decimal(1.50, 3), "1.5");
  EXPECT_EQ(decimal(100, 1), "100");
  EXPECT_EQ(decimal(-0.0001, 2), "0");
}

TEST(Axis, MarksAreRoundNumbersWithin) {
  int digits = -1;
  EXPECT_EQ(ticks(0, 10, 5, digits), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(digits, 0);
  EXPECT_EQ(ticks(0.13, 0.29, 4, digits).size(), 3U);  // 0.15 0.2 0.25
  EXPECT_EQ(digits, 2);
  EXPECT_EQ(ticks(5, 5, 4, digits), (std::vector<double>{5}));
  EXPECT_EQ(ticks(0, INFINITY, 4, digits).size(), 1U);
}

TEST(Series, JoinsNeighboursOnceThereAreTooMany) {
  Series series("l");
  const uint64_t steps = 3 * Series::kMaxBins;
  for (uint64_t i = 1; i <= steps; ++i) {
    series.add(i, static_cast<double>(i));
  }
  EXPECT_EQ(series.prints(), steps);
  EXPECT_LE(series.bins().size(), Series::kMaxBins);
  uint64_t count = 0;
  double sum = 0;
  double last = 0;
  for (const Bin& bin : series.bins()) {
    count += bin.count;
    sum += bin.sum;
    EXPECT_LE(bin.low, bin.mean());
    EXPECT_LE(bin.mean(), bin.high);
    EXPECT_NEAR(series.middle(bin), bin.mean(), 1e-9);
    EXPECT_GT(bin.low, last);
    last = bin.high;
  }
  EXPECT_EQ(count, steps);
  EXPECT_EQ(sum, static_cast<double>(steps * (steps + 1) / 2));
  EXPECT_EQ(series.low(), 1);
  EXPECT_EQ(series.high(), static_cast<double>(steps));
}

TEST(Series, WhatIsNoNumberIsMarkedAndBreaksTheLine) {
  Series series("l");
  series.add(1, 1);
  series.add(2, NAN);
  series.add(3, INFINITY);
  series.add(4, -INFINITY);
  series.add_failure(5);
  ASSERT_EQ(series.marks().size(), 4U);
  EXPECT_EQ(series.marks()[1].step, 3U);
  EXPECT_STREQ(word_of(series.marks()[3].kind), "fail");
  EXPECT_TRUE(series.bins()[1].breaks);
  EXPECT_EQ(series.high(), 1);
  for (uint64_t i = 6; i < 5000; ++i) series.add(i, NAN);
  EXPECT_EQ(series.marks().size(), Series::kMaxMarks);
  EXPECT_GT(series.unmarked(), 0U);
}

TEST(PlotScale, HoldsItsValues) {
  Series series("l");
  for (uint64_t i = 1; i <= 9; ++i) series.add(i, std::pow(10.0, i));
  const std::vector<Series> all = {series};
  const PlotScale linear(all, false);
  EXPECT_GT(linear.y(10), 0);
  EXPECT_LT(linear.y(1e9), 1);
  EXPECT_EQ(linear.x(1), 0);
  EXPECT_EQ(linear.x(9), 1);
  const PlotScale logarithmic(all, true);
  EXPECT_NEAR(logarithmic.y(1e5), 0.5, 1e-9);
  EXPECT_TRUE(std::isnan(logarithmic.y(0)));
  EXPECT_FALSE(logarithmic.y_ticks(5).empty());
}

// Whatever the numbers are, a picture has no nan and is XML.
TEST(Plot, DrawsAnyNumbers) {
  const double odd[] = {0,      -0.0,      1e308,    -1e308, 5e-324,
                        1e-300, NAN,       INFINITY, -1,     -INFINITY,
                        1,      1 + 1e-15, 1e300};
  for (const double a : odd) {
    for (const double b : odd) {
      Series series("<&>");
      series.add(1, a);
      series.add(2, b);
      series.add(7, a);
      for (const bool log_scale : {false, true}) {
        TextPlotOptions options;
        options.log_scale = log_scale;
        const std::string svg = plot_svg({series}, options);
        EXPECT_EQ(svg.find("\"nan"), std::string::npos) << a << " " << b;
        EXPECT_EQ(svg.find("inf\""), std::string::npos) << a << " " << b;
        EXPECT_TRUE(svg.ends_with("</svg>\n"));
        for (const bool ascii : {false, true}) {
          options.ascii = ascii;
          options.columns = 5;  // fewer than the text needs
          options.rows = 1;
          EXPECT_FALSE(plot_text({series}, options).empty());
        }
      }
    }
  }
}

}  // namespace
}  // namespace gt::log
