"""What each picture of the lessons shows, for those who cannot see it. By the picture's name."""

ALT_TEXTS: dict[str, str] = {
    "inputs-sum": (
        "What plus where plus how noisy equals what the model reads: four panels with a row for "
        "each place. In what, the row of [PAD] is white. How noisy repeats one row at every place, "
        "so it has upright stripes. No row of the sum is white, and no two are alike."
    ),
    "inputs-blocks": (
        "What: two sheets of four full rows. Where: one full sheet, and a dashed copy behind it "
        "for the second text. How noisy: one full row for each text, with dashed rows below it "
        "for the other places. The sum: two full sheets."
    ),
    "inputs-formula": (
        "Two tables of six rows and sixteen columns. The learned one looks like noise. The "
        "sinusoidal one is regular: row 0 alternates between two values; going down, the left "
        "columns change quickly, and the right ones hardly at all."
    ),
    "inputs-waves": (
        "Three waves from place 0 to place 63. Column 0 swings up and down ten times, column 4 "
        "once, and column 6 rises and has only begun to fall at the end."
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
        "The stream after the embedding. Each of five words has a 1 in one or two word bits, "
        "and the ones in the position slots run down a diagonal. All seven scratch slots are "
        "empty."
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
        "The stream after layer 1. Two scratch slots are new. previous_word_is_disobey is 0.20 "
        "at Crow, 1.00 at keep-flight and empty elsewhere. object_attribute_fly is 0.99 at he- "
        "is? and 0.20 at the other words. Words and positions are as before."
    ),
    "disobeys-gather": (
        "Two rows over five words. The flight head puts 1.00 on keep-flight, the speech head "
        "1.00 on swap-speech; all other weights round to 0.00."
    ),
    "disobeys-layer-two": (
        "The stream after layer 2. In the column of he-is?, is_attr_fly_disobeyed and "
        "is_swap_attr_speak are newly 1.00; the swap slot of flight and the disobeyed slot of "
        "speech stay empty. In the other columns, three of the last four slots hold averages, "
        "0.24 or 0.20, left over. The slots above are as before."
    ),
    "disobeys-parity-plot": (
        "Two curves over the sum of three bits. Parity zigzags: 0 at 0, 1 at 1, 0 at 2, 1 at 3. "
        "XOR follows it up to 2 and then falls on, to -1 at 3."
    ),
    "disobeys-gains-plot": (
        "Three falling curves of the worst error, for gains from 1 to 24. At a gain of 2 all "
        "lie above 0.5. The curves of the object head and of flight and speech cross near 3; "
        "from 16 on the first lies at 0.003, the second at 0.017. The previous word is last, at "
        "0.020 for 24."
    ),
}
