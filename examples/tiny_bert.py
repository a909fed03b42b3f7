"""What the examples share: a BERT small enough for a minute on two cores, its tokenizer, and the Trainer's settings."""

import tempfile
from collections.abc import Iterable
from typing import Any

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import BertConfig, PreTrainedTokenizerFast, TrainingArguments, set_seed

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
#: Where checkpoints go; gone when the script ends.
FOLDER = tempfile.TemporaryDirectory(prefix="toxeval-example-")


def make_tokenizer(texts: Iterable[str]) -> PreTrainedTokenizerFast:
    """A WordPiece tokenizer learnt from the texts. It comes first in every example, and so does the seed."""
    set_seed(0)
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=200, special_tokens=SPECIAL))
    cls, sep = (tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", sep), ("[CLS]", cls))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )


def config(tokenizer: PreTrainedTokenizerFast, **options: Any) -> BertConfig:
    size = {"hidden_size": 48, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 96}
    return BertConfig(vocab_size=len(tokenizer), max_position_embeddings=64, **size, **options)


def arguments(best: str, **options: Any) -> TrainingArguments:
    """Evaluate after every epoch, and keep the model with the highest score."""
    return TrainingArguments(
        output_dir=FOLDER.name,
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=1,
        load_best_model_at_end=True,
        metric_for_best_model=best,
        greater_is_better=True,
        learning_rate=3e-3,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=64,
        use_cpu=True,
        report_to="none",
        disable_tqdm=True,
        **options,
    )
