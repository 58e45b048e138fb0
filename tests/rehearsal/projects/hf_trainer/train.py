"""A language model of Hugging Face's, of random weights, with their Trainer."""

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class Counting(Dataset):
    """Sequences that count modulo ten."""

    def __len__(self):
        """How many there are."""
        return 16

    def __getitem__(self, number):
        """One sequence, which is its own label."""
        ids = (torch.arange(12) + number) % 10
        return {"input_ids": ids, "labels": ids}


def main():
    """Train, evaluate, save."""
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    model = GPT2LMHeadModel(GPT2Config(vocab_size=10, n_positions=16, n_embd=16, n_layer=1, n_head=2))
    arguments = TrainingArguments(
        output_dir="out", max_steps=3, per_device_train_batch_size=4, logging_steps=1, report_to=[], fp16=True
    )
    trainer = Trainer(model=model, args=arguments, train_dataset=Counting(), eval_dataset=Counting())
    trainer.train()
    print(trainer.evaluate())
    device = torch.device("cuda")
    print(model.to(device).generate(torch.zeros(1, 2, dtype=torch.long, device=device), max_length=6, pad_token_id=0))


if __name__ == "__main__":
    main()
