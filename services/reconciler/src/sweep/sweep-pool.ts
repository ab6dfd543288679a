import type { SweepDocument } from '@backstop/contracts'
import type { Clock } from '@backstop/kit'
import { Bulkhead, type Compartment } from '../reading/bulkhead.ts'

export interface SweepPoolOptions {
  readonly clock: Clock
  /** Leases a sweep that is due; undefined when none is. */
  claim(compartment: Compartment): Promise<SweepDocument | undefined>
  /** One run of a claimed sweep. It ends within its deadline whatever the provider does, and never throws. */
  run(sweep: SweepDocument, stopping: AbortSignal): Promise<void>
  onFailure(error: unknown): void
}

export interface SweepPool {
  /** Begins runs of what is due, as far as there are places. Later ones begin by themselves when a run ends. */
  fill(): Promise<void>
  /** Aborts the runs and waits for their end. */
  stop(): Promise<void>
}

/**
 * Runs at once. A run that waits for a provider costs a socket and at most a page of memory, and what did not answer last
 * time waits for seconds: 200 connections that never answer need some ten places (docs/benchmarks.md).
 */
const PLACES: Readonly<Record<Compartment, number>> = { quick: 8, slow: 64 }
/** Most pages are read in a fraction of this. */
const QUICK_FOR_MS = 3_000

/** The runs of this process: providers that do not answer never hold the places of those that do. */
export function createSweepPool({ clock, claim, run, onFailure }: SweepPoolOptions): SweepPool {
  const stopping = new AbortController()
  const running = new Set<Promise<void>>()
  const filling: Record<Compartment, Promise<void> | undefined> = { quick: undefined, slow: undefined }
  const isWanted: Record<Compartment, boolean> = { quick: false, slow: false }
  const bulkhead = new Bulkhead({ clock, places: PLACES, quickForMs: QUICK_FOR_MS, onFree: () => void fill() })

  async function claimAll(compartment: Compartment): Promise<void> {
    while (!stopping.signal.aborted && bulkhead.hasPlace(compartment)) {
      const sweep = await claim(compartment)
      if (sweep === undefined) return
      const ended: Promise<void> = bulkhead
        .run(compartment, () => run(sweep, stopping.signal))
        .finally(() => running.delete(ended))
      running.add(ended)
    }
  }

  /** One claim of a compartment at a time; what became free meanwhile is looked at once more. */
  async function fillOne(compartment: Compartment): Promise<void> {
    isWanted[compartment] = true
    filling[compartment] ??= (async () => {
      while (isWanted[compartment]) {
        isWanted[compartment] = false
        await claimAll(compartment).catch(onFailure)
      }
      filling[compartment] = undefined
    })()
    await filling[compartment]
  }

  async function fill(): Promise<void> {
    await Promise.all([fillOne('quick'), fillOne('slow')])
  }

  return {
    fill,
    async stop() {
      stopping.abort()
      await Promise.all([filling.quick, filling.slow])
      await Promise.all(running)
    },
  }
}
