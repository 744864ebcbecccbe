"""What each picture of the lessons shows, for those who cannot see it. By the picture's name."""

ALT_TEXTS: dict[str, str] = {
    "inputs-picture": (
        "Four panels of four rows and sixteen columns. Token: three rows that differ, the row "
        "of [PAD] is zero throughout. Position: four rows that differ. Noise: four equal rows, "
        "so the panel shows vertical stripes, paler than the others. Sum: no row is zero, and "
        "none equals another."
    ),
    "inputs-formula": (
        "Two tables of six rows and sixteen columns. The learned one looks like noise. The "
        "sinusoidal one is regular: row 0 alternates 0 and 1; going down, the left columns "
        "swing quickly between -1 and 1, and the right ones hardly change."
    ),
    "inputs-line": (
        "Three straight lines over the noise level from 0 to 1, each with its own slope and "
        "start. None of them bends."
    ),
    "attention-before-after": (
        "Two six by six matrices of attention weights. Without a mask every token spreads its "
        "attention almost evenly, about 0.16 to 0.18 on each word. With the mask the upper "
        "right triangle is blocked, the first word keeps 1.00 for itself, and each row shares "
        "its unit among fewer words, down to about 0.17 each in the last row."
    ),
    "attention-dropout-figure": (
        "Causal attention weights after one draw of dropout. About half of the visible weights "
        "are zero, the others are twice as large as before: the first word gives itself 2.00. "
        "The blocked upper right triangle is zero as it was."
    ),
    "attention-gradient": (
        "A six by six matrix of gradients. Every place in the upper right triangle, where the "
        "input lies in the output's future, is exactly 0.00. Every place on and below the "
        "diagonal is larger than zero; the first word moves its own output most, and influence "
        "thins out as more words share it."
    ),
    "attention-memory": (
        "Two lines over the number of tokens. The class of this lesson bends upward, from "
        "almost nothing at 64 tokens to 8,192 KiB at 512. The fused kernel stays near the "
        "bottom, at 256 KiB for 512 tokens."
    ),
    "disobeys-stream": (
        "The stream after the embedding, a column for each of five words. Each has a 1 in one or "
        "two word bits, and the ones in the position slots run down a diagonal. The scratch "
        "slots are all empty."
    ),
    "disobeys-plan": (
        "Two sentences, one above the other, with arrows between their words. In layer 1 he-is? "
        "looks at Crow and each word at the word before it; in layer 2 he-is? looks at the two "
        "action words. In the upper sentence the note stands at keep-flight, so the three bits "
        "of flight sum up to 2, those of speech to 1, and the answer is Human. In the lower one "
        "it stands at swap-speech, the sums are 1 and 2, and the answer is Crow."
    ),
    "disobeys-crows": (
        "The two sentences with the arrows of the model's own attention. The arrows are those of "
        "the plan, and five faint ones lead to the first word. It gets a note of 0.20; the notes "
        "that count are 1, at keep-flight above and at swap-speech below. The object's bit is "
        "0.99, and the answers are Human and Crow, as planned."
    ),
    "disobeys-attention": (
        "Attention among five words. The last row, he-is?, puts 0.99 on Crow and almost nothing "
        "on the others. The four rows above are flat: 0.20 everywhere."
    ),
    "disobeys-direction": (
        "A six by six matrix among the position slots: 24 in each place right below the "
        "diagonal, zero everywhere else."
    ),
    "disobeys-previous-attention": (
        "Attention among five words. Row 0, Crow, is flat at 0.20. In each row below, the full "
        "1.00 lies on the word before, right below the diagonal."
    ),
    "disobeys-layer-one-stream": (
        "The scratch slots after layer 1. Two of the seven rows are new. In the first, "
        "previous_word_is_disobey, there is a 1 at keep-flight and 0.20 at Crow. In the second, "
        "object_attribute_fly, there is 0.99 at he-is? and 0.20 at the other words."
    ),
    "disobeys-layer-two": (
        "The scratch slots after layer 2. In the column of he-is?, is_attr_fly_disobeyed and "
        "is_swap_attr_speak are newly 1; the swap slot of flight and the disobeyed slot of "
        "speech stay empty. At the other words three of the last four slots hold averages, 0.24 "
        "or 0.20."
    ),
    "disobeys-parity-plot": (
        "Three lines that bend, and their sum, over the sums 0 to 3. The first rises to 3. The "
        "second stays at 0 up to 1 and falls to -4, the third stays at 0 up to 2 and rises to 2. "
        "Their sum zigzags: 0, 1, 0, 1."
    ),
    "disobeys-gains-plot": (
        "Three falling curves of the worst error, for gains from 1 to 24. At a gain of 2 all "
        "lie above 0.5. The curves of the object head and of flight and speech cross near 3; "
        "from 16 on the first lies at 0.003, the second at 0.017. The previous word is last, at "
        "0.020 for 24."
    ),
}
