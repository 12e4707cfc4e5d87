"""A convolution, a group norm, a gelu and a pool."""
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, channels, features, groups):
        super().__init__()
        self.conv = nn.Conv2d(channels, features, 3, padding=1)
        self.norm = nn.GroupNorm(groups, features)
        self.pool = nn.AvgPool2d(2)

    def forward(self, x):
        return self.pool(nn.functional.gelu(self.norm(self.conv(x))))


def get_inputs():
    return [torch.rand(2, 8, 12, 12)]


def get_init_inputs():
    return [8, 16, 4]
