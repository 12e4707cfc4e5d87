"""An RMS norm and a gated layer."""
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width, inner, eps):
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(1 + torch.randn(width) / 8)
        self.gate = nn.Linear(width, inner, bias=False)
        self.up = nn.Linear(width, inner, bias=False)

    def forward(self, x):
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.gain
        return nn.functional.silu(self.gate(x)) * self.up(x)


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return [64, 48, 1e-3]
