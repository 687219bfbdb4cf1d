"""Figures of programs and threads: host and device, the hierarchy of threads, launches, divergence."""
from style import Figure
import facts


def host_and_device():
    f = Figure('host-and-device', 'What the host does around a kernel', '''
        Two boxes, the host with its CPU and memory on the left, the device with its GPU and memory
        on the right. Five arrows in the order of time: the host allocates device memory, copies the
        input to the device, launches the kernel, which reads device_in and writes device_out,
        copies the result back to the host, and frees the device memory.''',
               'the five calls of solutions/first/01_one_thread.cu', 316)
    f.box(12, 12, 112, 292, 'blue', 6)
    f.box(236, 12, 112, 292, 'green', 6)
    f.text(68, 32, 'HOST', 13, 'middle', strong=True)
    f.text(68, 47, 'CPU, memory', 11, 'middle')
    f.text(292, 32, 'DEVICE', 13, 'middle', strong=True)
    f.text(292, 47, 'GPU, memory', 11, 'middle')
    f.label(32, 108, 72, 28, 'in', 'page', code=True)
    f.label(32, 212, 72, 28, 'out', 'page', code=True)
    f.label(248, 108, 88, 28, 'device_in', 'page', code=True)
    f.label(248, 160, 88, 28, 'kernel', 'orange', strong=True)
    f.label(248, 212, 88, 28, 'device_out', 'page', code=True)
    f.arrow(292, 136, 292, 159)
    f.arrow(292, 188, 292, 211)
    for y, words, code, back in (
            (78, '1 allocate', 'cudaMalloc', False), (122, '2 copy', 'cudaMemcpy', False),
            (174, '3 launch', '<<<1, 1>>>', False), (226, '4 copy', 'cudaMemcpy', True),
            (278, '5 free', 'cudaFree', False)):
        left, right = 106, 246
        if back:
            f.arrow(right, y, left, y)
        else:
            f.arrow(left, y, right, y)
        f.text(180, y - 7, words, 12, 'middle', strong=True)
        f.text(180, y + 16, code, 11, 'middle', 'muted', code=True)
    return f


def thread_hierarchy():
    gpu = facts.Gpu('h200')
    f = Figure('thread-hierarchy', 'Grid, blocks, warps and threads', f'''
        A grid of four blocks. Block 1 is enlarged: it has 64 threads, which are two warps of
        {gpu.warp_size}. Warp 1 is enlarged: its {gpu.warp_size} threads, 32 to 63 of the block, are
        its lanes 0 to 31, and they execute each instruction together. A line of arithmetic:
        the number of a thread in the grid is blockIdx.x times blockDim.x plus threadIdx.x, and for
        thread 37 of block 1 it is 1 times 64 plus 37, which is 101.''',
               'warpSize of common/gpus/h200.toml', 330)
    f.text(12, 24, 'Grid: all blocks of one launch', 12.5, strong=True)
    f.text(348, 24, '<<<4, 64>>>', 11.5, 'end', code=True)
    for b in range(4):
        f.label(12 + 86 * b, 34, 78, 30, f'block {b}', 'orange' if b == 1 else 'idle')
    for x0, x1 in ((98, 12), (176, 348)):
        f.path([(x0, 64), (x1, 96)], 'orange', 'dashed')
    f.box(12, 96, 336, 54, 'orange', 4)
    f.text(20, 113, 'Block 1: 64 threads on one multiprocessor', 12.5, strong=True)
    for w in range(2):
        f.label(20 + 163 * w, 120, 157, 24, f'warp {w}: threads {32 * w} to {32 * w + 31}',
                'green' if w else 'idle', 11.5)
    f.path([(183, 144), (12, 184)], 'green', 'dashed')
    f.path([(340, 144), (348, 184)], 'green', 'dashed')
    f.box(12, 184, 336, 66, 'green', 4)
    f.text(20, 201, f'Warp 1: {gpu.warp_size} lanes, one instruction at a time', 12.5, strong=True)
    for lane in range(gpu.warp_size):
        f.box(20 + 10 * lane, 209, 8, 16, 'violet' if lane == 5 else 'page', 1)
    f.text(20, 242, 'lane 0', 11)
    f.text(74, 242, 'lane 5 = thread 37', 11, 'start', strong=True)
    f.text(338, 242, 'lane 31', 11, 'end')
    f.path([(74, 225), (74, 234)], 'violet')
    f.text(12, 276, 'The number of a thread in the grid:', 12.5, strong=True)
    f.text(12, 296, 'blockIdx.x * blockDim.x + threadIdx.x', 12, code=True)
    f.text(12, 315, '     1     *     64     +     37      = 101', 12, code=True)
    return f


def async_launch():
    f = Figure('async-launch', 'Who waits for whom', '''
        Two timelines, the host above and the device below. The host launches the kernel and
        continues with its next lines immediately, while the kernel starts to run on the device.
        Then the host calls cudaMemcpy, which waits until the kernel has ended, copies, and returns.
        An error of the launch itself is known right after the launch; an error inside the kernel is
        reported only by a call that waits.''', 'the default stream, as common/timeline orders it', 236)
    f.text(12, 26, 'time', 11.5, colour='muted')
    f.arrow(44, 22, 348, 22, 'muted')
    f.text(12, 50, 'Host', 12.5, strong=True)
    f.label(12, 58, 52, 34, 'launch', 'blue')
    f.label(66, 58, 82, 34, 'next lines', 'blue')
    f.label(150, 58, 130, 34, 'cudaMemcpy: waits', 'idle', more='dashed')
    f.label(282, 58, 66, 34, 'copies', 'blue')
    f.text(12, 124, 'Device', 12.5, strong=True)
    f.label(78, 132, 200, 34, 'the kernel runs', 'orange')
    f.label(282, 132, 66, 34, 'copies', 'green')
    f.arrow(46, 92, 80, 131)
    f.arrow(278, 132, 280, 94)
    f.dot(64, 186, 'red', 4)
    f.text(74, 190, 'known here: the kernel could not be started', 12)
    f.text(74, 205, 'cudaGetLastError()', 11.5, code=True, colour='muted')
    f.dot(64, 100, 'red', 4)
    f.dot(348 - 4, 222, 'red', 4)
    f.dot(344, 100, 'red', 4)
    f.text(334, 226, 'known here: the kernel failed while it ran', 12, 'end')
    return f


def grid_2d():
    w, h, bx, by = 37, 23, 32, 8
    s, x0, y0 = 4.9, 30, 34
    f = Figure('grid-2d', 'A picture under blocks of 32 x 8', f'''
        A picture of {w} by {h} pixels under a grid of 2 by 3 blocks of {bx} by {by} threads. The
        right column of blocks covers only {w - bx} of its {bx} columns, and the lowest row of blocks
        covers only {h - 2 * by} of its {by} rows: all other threads of these blocks have no pixel and
        must do nothing. A thread's column is blockIdx.x times 32 plus threadIdx.x, and its row is
        blockIdx.y times 8 plus threadIdx.y.''', 'the picture and the blocks of labs/first, part 5', 250)
    f.text(x0, 22, 'x = 0', 11)
    f.text(x0 + w * s, 22, f'{w - 1}', 11, 'end')
    f.text(x0 + 2 * bx * s, 22, f'{2 * bx - 1}', 11, 'end')
    for j in range(3):
        for i in range(2):
            f.box(x0 + i * bx * s, y0 + j * by * s, bx * s, by * s, 'idle', 0, 'dashed')
    f.box(x0, y0, w * s, h * s, 'blue', 0)
    for j in range(3):
        for i in range(2):
            f.path([(x0 + i * bx * s, y0 + j * by * s), (x0 + (i + 1) * bx * s, y0 + j * by * s),
                    (x0 + (i + 1) * bx * s, y0 + (j + 1) * by * s),
                    (x0 + i * bx * s, y0 + (j + 1) * by * s)], 'muted', closed=True)
            f.text(x0 + i * bx * s + (92 if i else 76), y0 + j * by * s + 25,
                   f'block ({i}, {j})', 12, 'middle')
    for j in range(3):
        f.text(x0 - 4, y0 + j * by * s + 10, f'{j * by}', 11, 'end')
    f.text(x0 - 4, y0 + h * s, f'{h - 1}', 11, 'end')
    y = y0 + 3 * by * s
    f.box(12, y + 16, 14, 12, 'blue', 0)
    f.text(32, y + 26, f'the picture: {w} x {h} pixels, a thread for each', 12)
    f.box(12, y + 36, 14, 12, 'idle', 0, 'dashed')
    f.text(32, y + 46, 'threads without a pixel: they must do nothing', 12)
    f.text(12, y + 72, 'column', 12, strong=True)
    f.text(66, y + 72, 'blockIdx.x * blockDim.x + threadIdx.x', 11.5, code=True)
    f.text(12, y + 90, 'row', 12, strong=True)
    f.text(66, y + 90, 'blockIdx.y * blockDim.y + threadIdx.y', 11.5, code=True)
    return f


def divergence():
    f = Figure('divergence', 'One warp takes two branches, or two warps take one each', '''
        Above, the lane chooses: within one warp, even lanes take branch a and odd lanes take branch b.
        The warp executes a with half of its lanes idle, then b with the other half idle, which is two
        passes. Below, the warp chooses: all lanes of warp 0 take a, and all lanes of warp 1 take b.
        Each warp makes one pass with every lane active, and nothing is lost.''',
               'kinds 0 and 1 of solutions/launch/experiments/divergence.cu', 300)

    def pass_row(y, words, colour, active):
        f.text(12, y + 12, words, 12)
        for lane in range(32):
            on = active(lane)
            f.box(76 + 8.6 * lane, y, 7, 16, colour if on else 'idle', 1,
                  '' if on else 'dashed')

    f.text(12, 24, 'The lane chooses', 12.5, strong=True)
    f.text(348, 24, 'if (lane % 2) b(); else a();', 11, 'end', code=True)
    pass_row(36, 'one warp', 'page', lambda lane: True)
    pass_row(62, 'runs a', 'blue', lambda lane: lane % 2 == 0)
    pass_row(86, 'then b', 'orange', lambda lane: lane % 2 == 1)
    f.text(76, 120, 'two passes, half of the lanes idle in each', 12)
    f.path([(12, 136), (348, 136)], 'muted')
    f.text(12, 158, 'The warp chooses', 12.5, strong=True)
    f.text(348, 158, 'if (warp % 2) b(); else a();', 11, 'end', code=True)
    pass_row(170, 'warp 0: a', 'blue', lambda lane: True)
    pass_row(194, 'warp 1: b', 'orange', lambda lane: True)
    f.text(76, 228, 'one pass each, every lane at work', 12)
    f.box(76, 246, 7, 16, 'page', 1)
    f.text(90, 258, 'a lane', 11.5)
    f.box(150, 246, 7, 16, 'blue', 1)
    f.box(158.6, 246, 7, 16, 'orange', 1)
    f.text(172, 258, 'at work', 11.5)
    f.box(236, 246, 7, 16, 'idle', 1, 'dashed')
    f.text(250, 258, 'idle', 11.5)
    f.text(12, 286, 'A warp pays for every branch that a lane takes.', 12)
    return f


FIGURES = [host_and_device, thread_hierarchy, async_launch, grid_2d, divergence]
