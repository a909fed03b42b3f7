"""The tiny models of tiny.py, made from a config; needs torch and transformers."""

from typing import Any

from samples import INTENTS, SLOTS
from tiny import VOCABULARY
from torch import nn
from transformers import BertConfig, BertForSequenceClassification, BertForTokenClassification, BertModel


def config(**options: Any) -> BertConfig:
    size = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    return BertConfig(vocab_size=VOCABULARY, max_position_embeddings=16, **size, **options)


class _WithCategories(BertForSequenceClassification):
    """Takes the categories that the metric wants, and does nothing with them."""

    def forward(self, categories: Any = None, **inputs: Any) -> Any:
        return super().forward(**inputs)


class Joint(nn.Module):
    """Intent and slots from one encoder, as a dict."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = BertModel(config())
        self.intents, self.slots = nn.Linear(16, len(INTENTS)), nn.Linear(16, len(SLOTS))

    def forward(self, input_ids: Any, attention_mask: Any, intent_labels: Any, slot_labels: Any) -> dict[str, Any]:
        encoded = self.encoder(input_ids, attention_mask=attention_mask)
        intents, slots = self.intents(encoded.pooler_output), self.slots(encoded.last_hidden_state)
        loss = nn.functional.cross_entropy(intents, intent_labels)
        loss = loss + nn.functional.cross_entropy(slots.flatten(0, 1), slot_labels.flatten(), ignore_index=-100)
        return {"loss": loss, "intent_logits": intents, "slot_logits": slots}


def classifier(**options: Any) -> nn.Module:
    return BertForSequenceClassification(config(**options))


def tagger() -> nn.Module:
    return BertForTokenClassification(config())


def with_categories() -> nn.Module:
    return _WithCategories(config())
