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
        "Two tables of six rows and sixteen columns. The one that will be learned shows no "
        "order. The sinusoidal one is regular: row 0 alternates between two values; going down, "
        "the left columns change quickly, and the right ones hardly at all."
    ),
    "inputs-waves": (
        "Three waves from place 0 to place 63. Column 0 swings up and down ten times, column 4 "
        "once, and column 6 rises and has only begun to fall at the end."
    ),
    "inputs-line": (
        "Three straight lines over the noise level from 0 to 1, each with its own slope and "
        "start. None of them bends."
    ),
    "attention-flow": (
        "Boxes from left to right. x, a stack of two sheets of shape 2 x 6 x 3, leads to queries, "
        "keys and values. Queries and keys lead to scores, scores to weights; weights and values "
        "lead to context. All boxes but x hold a question mark."
    ),
    "attention-flow-answered": (
        "The same boxes, each a stack of two sheets. Queries, keys, values and context are "
        "2 x 6 x 2, scores and weights 2 x 6 x 6."
    ),
    "attention-scaled-row": (
        "Scores of one query with six keys, and their weights. Not divided, the scores run from "
        "-7.16 to 12.33, and key 2 gets 1.00, the others 0.00. Divided by 8, key 2 gets 0.48, key "
        "4 gets 0.22, and every other key something."
    ),
    "attention-row-steps": (
        "Two columns of bars. Mask first: the last three scores become minus infinity, their "
        "exponentials 0, and the first three shares, 0.23, 0.63 and 0.14, add up to 1.00. Softmax "
        "first: the last three take most of the shares, and when these are erased, 0.04, 0.11 and "
        "0.02 are left, 0.17 together."
    ),
    "attention-before-after": (
        "Attention weights of six words, side by side. Without a mask, starts gives 0.49 to "
        "journey and 0.49 to step. With the mask the upper right triangle is hatched, and starts "
        "gives 0.97 to journey; Your, which has nobody before it, gives 1.00 to itself."
    ),
    "attention-dropout-figure": (
        "Causal attention weights after one draw of dropout. Nine of the visible weights are "
        "crossed out, the others are twice as large as before: the first word gives itself 2.00. "
        "The blocked upper right triangle is hatched as it was."
    ),
    "attention-gradient": (
        "Two six by six matrices of gradients. Our class: the upper right triangle is hatched, "
        "exactly 0, and everything else is 0.32 or more. Late mask: no place is hatched; the upper "
        "right triangle holds small numbers, 0.01 or 0.02."
    ),
    "attention-memory": (
        "Two rising straight lines on logarithmic axes. At each doubling of the tokens the class "
        "of this lesson takes four times as much, from 128 to 8,192 KiB, and torch's function "
        "twice as much, from 32 to 256 KiB."
    ),
    "disobeys-stream": (
        "The stream after the embedding, a column for each of five words. Each has a 1 in one or "
        "two word bits, and the ones in the position slots run down a diagonal. The scratch "
        "slots are all empty."
    ),
    "disobeys-plan": (
        "Two sentences, one above the other. Arrows show what is carried, from the word looked at "
        "to the word that looks: in layer 1 from Crow to he-is? and from each word to the next, "
        "in layer 2 from the two action words to he-is?. In the upper sentence the note stands at "
        "keep-flight, so the three bits of flight sum up to 2, those of speech to 1, and the "
        "answer is Human. In the lower one it stands at swap-speech, the sums are 1 and 2, and "
        "the answer is Crow."
    ),
    "disobeys-crows": (
        "The two sentences, with the model's own attention as arrows from the word looked at to "
        "the word that looks. They are those of the plan, and five faint ones lead to the first "
        "word, which looks at all words alike and gets a note of 0.20. The notes that count are "
        "1: at keep-flight above, at swap-speech below. The object's bit is 0.99, and the answers "
        "are Human and Crow, as planned."
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
        "Three weighted units, one straight and two with a bend, and their sum, over the sums 0 "
        "to 3. The first rises to 3. The second stays at 0 up to 1 and falls to -4, the third "
        "stays at 0 up to 2 and rises to 2. Their sum zigzags: 0, 1, 0, 1."
    ),
    "disobeys-gains-plot": (
        "The worst error, for gains from 1 to 24, in three curves. That of flight and speech "
        "first rises to 0.934 at 1.5, and then all fall. At 2 all lie above 0.5. The object head "
        "lies above flight and speech from 3 to 6 and meets it at 8; from 16 on it lies at 0.003, "
        "the other at 0.017. The previous word is last, at 0.020 for 24."
    ),
    "denoiser-flow": (
        "Boxes joined by arrows. x_t and t lead to the inputs, and x_t to the mask. Inputs and "
        "mask lead to the blocks, and the blocks to log p. What leaves the inputs and the blocks "
        "has one shape, 2 x 5 x 32; log p is 2 x 5 x 10."
    ),
    "denoiser-curve": (
        "One curve over training steps from 0 to 400, falling but for a bump at 200, and six level "
        "lines. The curve starts above the highest line, crosses four of them within the first 50 "
        "steps and the fifth before step 100. Then it creeps towards the lowest, both sides, "
        "without reaching it."
    ),
    "denoiser-against": (
        "Two matrices of eight damaged forms and eight letters. Where counting gives a letter no "
        "chance, the model gives it almost none. Where several letters fit, the model shares the "
        "chance among the same letters, but not in exactly the same parts."
    ),
    "denoiser-steps": (
        "Four words, written in two ways. One letter at a time: the first row is all gaps, and "
        "each of the five rows below fills one more, in a frame. All five at once: one step fills "
        "every gap. The marks below say which results are words of the language."
    ),
}
