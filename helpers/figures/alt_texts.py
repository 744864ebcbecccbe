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
    "denoiser-flow": (
        "Boxes joined by arrows. x_t and t lead to the inputs, and x_t to the mask. Inputs and "
        "mask lead to the blocks, and the blocks to log p. What leaves the inputs and the blocks "
        "has one shape, 2 x 5 x 32; log p is 2 x 5 x 10."
    ),
    "denoiser-curve": (
        "One falling curve over training steps from 0 to 400, and six level lines. The curve "
        "starts above the highest line, crosses four of them within the first 50 steps and the "
        "fifth before step 100. Then it creeps towards the lowest, both sides, without reaching "
        "it."
    ),
    "denoiser-against": (
        "Two matrices of eight damaged forms and eight letters. Where counting gives a letter no "
        "chance, the model gives it almost none. Where several letters fit, the model shares the "
        "chance among the same letters, but not in exactly the same parts."
    ),
    "denoiser-steps": (
        "Four words, written in two ways. One letter at a time: five rows of gaps fill up, one "
        "framed letter in each step. All five at once: one step fills every gap. The marks below "
        "say which results are words of the language."
    ),
}
