"""What the sets of programs share."""


class Cases(list):
    def case(self, cause_class, cause, seconds=(), kernels=(), stack=False, advice=()):
        """The truth of a program: class and cause of the headline, other true answers, and (pattern, class, cause) of its kernels. `advice`: the ids of
        what to change; the program does without it when called with `better`."""
        def keep(program):
            self.append({'program': program, 'class': cause_class, 'cause': cause, 'seconds': list(seconds), 'kernels': list(kernels), 'stack': stack,
                         'advice': list(advice)})
            return program
        return keep


def captured(torch, step):
    """The step's work as a graph that is replayed."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def half(torch, *shape):
    return torch.randn(*shape, device='cuda', dtype=torch.bfloat16)
