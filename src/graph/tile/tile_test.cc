#include "graph/tile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::graph {
namespace {

const std::vector<TileShape> kOne = {{128, 128}};

TEST(Tile, WholeTilesHaveFullEfficiency) {
  const auto tiling = tile(GemmSite{1, 256, 512, 64, true, 0}, kOne, 8);
  ASSERT_TRUE(tiling);
  EXPECT_EQ(tiling->tiles, 8);
  EXPECT_EQ(tiling->waves, 1);
  EXPECT_EQ(tiling->efficiency_ratio(), 1);
}
TEST(Tile, OneRowTooManyIsAnotherRowOfTiles) {
  const auto tiling = tile(GemmSite{1, 129, 128, 64, true, 0}, kOne, 1);
  EXPECT_EQ(tiling->tiles, 2);
  EXPECT_DOUBLE_EQ(tiling->tile_ratio, 129.0 / 256);
}
TEST(Tile, OneTileTooManyIsAnotherWave) {
  const auto tiling = tile(GemmSite{9, 128, 128, 64, false, 0}, kOne, 8);
  EXPECT_EQ(tiling->waves, 2);
  EXPECT_DOUBLE_EQ(tiling->wave_ratio, 9.0 / 16);
}
TEST(Tile, TheBestTileIsTaken) {
  EXPECT_EQ(tile(GemmSite{1, 64, 64, 64, true, 0}, {{128, 128}, {64, 64}}, 1)->tile, (TileShape{64, 64}));
  EXPECT_EQ(tile(GemmSite{1, 256, 256, 64, true, 0}, {{64, 64}, {128, 128}}, 4)->tile, (TileShape{128, 128}));
}
TEST(Tile, ConvolutionIsTiledAsGemm) {
  ConvolutionSite site;
  site.n = 2;
  site.c = 64;
  site.k = 128;
  site.input = site.output = {56, 56};
  site.filter = {3, 3};
  const auto tiling = tile(site, kOne, 100);
  EXPECT_EQ(tiling->m, 2 * 56 * 56);
  EXPECT_EQ(tiling->n, 128);
  EXPECT_EQ(tiling->k, 64 * 9);
}
TEST(Tile, AttentionIsTiledAsItsScores) {
  EXPECT_EQ(tile(AttentionSite{2, 8, 8, 128, 256, 64, 64, false}, kOne, 1)->tiles, 2 * 8 * 2);
}
TEST(Tile, NothingToTile) {
  EXPECT_FALSE(tile(std::monostate(), kOne, 8));
  EXPECT_FALSE(tile(GemmSite{1, 0, 4, 4, false, 0}, kOne, 8));
  EXPECT_FALSE(tile(GemmSite{1, 4, 4, 4, false, 0}, kOne, 0));
  EXPECT_FALSE(tile(GemmSite{1, 4, 4, 4, false, 0}, {{0, 8}}, 8));
}
TEST(Tile, ExplanationListsTiling) {
  EXPECT_EQ(explain(*tile(GemmSite{1, 1024, 512, 64, true, 0}, kOne, 80), 80),
            "1024 x 512 in tiles of 128 x 128: 32 tiles on 80 units, 1 wave, 100 % of their area and 40.0 % of the units used");
}

}  // namespace
}  // namespace aaco::graph
