"""Learns to sort digits: mixed precision, a scaler, a checkpoint, sampling."""

import torch
from model import GPT
from torch.cuda.amp import GradScaler, autocast
from torch.utils.data import DataLoader, Dataset

LENGTH = 6


class Sorting(Dataset):
    """Digits, then the same digits in order."""

    def __len__(self):
        """How many there are."""
        return 64

    def __getitem__(self, number):
        """One example: what is seen, and what comes next."""
        digits = torch.randint(3, size=(LENGTH,), generator=torch.Generator().manual_seed(number))
        whole = torch.cat((digits, torch.sort(digits)[0]))
        return whole[:-1].clone(), whole[1:].clone()


def main():
    """Train, save, load, generate."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.cuda.manual_seed_all(0)
    model = GPT(3, 2 * LENGTH).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = GradScaler()
    for batch in DataLoader(Sorting(), batch_size=16, shuffle=True, pin_memory=True):
        ids, targets = (part.cuda(non_blocking=True) for part in batch)
        with autocast(dtype=torch.float16):
            _, loss = model(ids, targets)
        optimizer.zero_grad(set_to_none=True)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        print(f"loss {loss.item():.3f}, {torch.cuda.max_memory_allocated() // 1024} kB")
    torch.save(model.state_dict(), "model.pt")
    model.load_state_dict(torch.load("model.pt", map_location="cuda:0"))
    print(model.eval().generate(torch.zeros(1, 1, dtype=torch.long, device=device), 8).tolist())


if __name__ == "__main__":
    main()
