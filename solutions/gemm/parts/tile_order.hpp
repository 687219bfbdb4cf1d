// The tile order of 13_tile_order, for tiles of any size.
#pragma once

struct tile_place {
  int row, col;  // of its first element in c
};

// Tiles are numbered in groups of 16 rows of tiles, column by column within a group.
__device__ inline tile_place place_of(int tile, int tiles_y, int tiles_x, int tile_rows,
                                      int tile_cols) {
  constexpr int group = 16;
  const int first_y = tile / (group * tiles_x) * group, in_group = tile - first_y * tiles_x;
  const int group_y = min(group, tiles_y - first_y);
  return {(first_y + in_group % group_y) * tile_rows, in_group / group_y * tile_cols};
}
