import type { Truth } from '../actors/truth.ts'

/** What happened in a run, for people who read a failure. */
export class Timeline {
  readonly #startMs = Date.now()
  readonly #events: { readonly atMs: number; readonly text: string }[] = []

  add(text: string, atMs = Date.now()): void {
    this.#events.push({ atMs, text })
  }

  /** Adds what the judge knows: changes at providers, their reports, and what receivers took. */
  addTruth(seed: number, { deeds, received }: Truth): void {
    for (const { title, ref, atMs, grounds } of deeds) {
      this.add(`seed ${seed}: ${title} (${ref})`, atMs)
      for (const { reason, begins } of grounds) {
        this.add(`seed ${seed}: ${reason} for ${ref} begins`, begins.fromMs)
        if (begins.toMs !== undefined) this.add(`seed ${seed}: ${reason} for ${ref} is confirmed`, begins.toMs)
      }
    }
    for (const { atMs, channel, webhookId, body, isAnswered } of received) {
      const { event, data } = JSON.parse(body) as AlertBody
      const about = `${data.incident?.code ?? ''} ${data.action?.kind ?? ''} ${data.action?.provider_ref ?? ''}`
      const answer = isAnswered ? '' : ', and the answer is lost'
      this.add(`seed ${seed}: ${channel} gets ${event} ${about} as ${webhookId}${answer}`, atMs)
    }
  }

  /** In the order of time, in seconds since the start. */
  lines(): string[] {
    return this.#events
      .toSorted((one, other) => one.atMs - other.atMs)
      .map(({ atMs, text }) => `${((atMs - this.#startMs) / 1_000).toFixed(2).padStart(8)} s  ${text}`)
  }
}

interface AlertBody {
  readonly event: string
  readonly data: {
    readonly incident?: { readonly code: string }
    readonly action?: { readonly kind: string; readonly provider_ref: string | null }
  }
}
