"""A figure of the cycle of optimisation: assess, parallelise, optimise, deploy."""
from style import Figure


def apod():
    f = Figure('apod', 'Assess, parallelise, optimise, deploy', '''
        Four boxes in a circle. Assess: which part of the program takes the time, and what limits it
        (lab profile). Parallelise: give the work to the device, with a library or a kernel, and
        check that it is right (lab run, lab check). Optimise: one idea at a time, predicted, then
        measured (lab walk, lab sweep). Deploy: put the faster program to use (lab grade). Then the
        cycle begins again with the part that takes longest now.''',
               'CUDA C++ Best Practices Guide, "Assess, Parallelize, Optimize, Deploy"', 300)
    boxes = [(12, 14, 'Assess', ['Which part takes the', 'time? What limits it?'], './lab profile', 'blue'),
             (198, 14, 'Parallelise', ['A library or a kernel.', 'Is it right?'], './lab check', 'green'),
             (198, 148, 'Optimise', ['One idea. Predict,', 'then measure.'], './lab sweep', 'orange'),
             (12, 148, 'Deploy', ['Use what is gained.', 'Keep the tests.'], './lab grade', 'violet')]
    for x, y, name, words, command, colour in boxes:
        f.box(x, y, 150, 92, colour, 6)
        f.text(x + 10, y + 20, name, 13, strong=True)
        f.lines(x + 10, y + 40, words, 12, 16)
        f.text(x + 10, y + 82, command, 11.5, code=True)
    f.arrow(163, 60, 197, 60)
    f.arrow(274, 108, 274, 146)
    f.arrow(197, 194, 163, 194)
    f.arrow(86, 146, 86, 108)
    f.text(12, 264, 'Each turn deploys something that works. The next', 12)
    f.text(12, 280, 'turn begins with the part that takes longest now.', 12)
    return f


FIGURES = [apod]
