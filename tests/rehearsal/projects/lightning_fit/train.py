"""A regression with PyTorch Lightning."""

import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset


class Line(lightning.LightningModule):
    """One linear layer."""

    def __init__(self):
        """Build it."""
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, _number):
        """The loss of one batch."""
        x, y = batch
        return torch.nn.functional.mse_loss(self.layer(x), y)

    def configure_optimizers(self):
        """Plain descent."""
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    """Fit."""
    data = TensorDataset(torch.randn(32, 4), torch.randn(32, 1))
    trainer = lightning.Trainer(
        accelerator="gpu", devices=1, max_epochs=1, logger=False, enable_checkpointing=False, enable_progress_bar=False
    )
    trainer.fit(Line(), DataLoader(data, batch_size=8))
    print(torch.cuda.memory_allocated())


if __name__ == "__main__":
    main()
