import type { SweepDocument } from '@backstop/contracts'
import type { Clock } from '@backstop/kit'
import { Bulkhead, type Compartment } from '../reading/bulkhead.ts'

export interface SweepPoolOptions {
  readonly clock: Clock
  /** Leases a due sweep; undefined if none is due. */
  claim(compartment: Compartment): Promise<SweepDocument | undefined>
  /** Runs a claimed sweep. It must end within its deadline and must not throw. */
  run(sweep: SweepDocument, stopping: AbortSignal): Promise<void>
  onFailure(error: unknown): void
}

export interface SweepPool {
  /** Starts due sweeps while there are free places. When a run ends, further due sweeps start without another call. */
  fill(): Promise<void>
  /** Aborts the runs and waits until they end. */
  stop(): Promise<void>
}

/**
 * Concurrent runs. A run that waits for a provider uses a socket and at most one page of memory. A failed sweep pauses
 * for seconds, so 200 connections that never answer need about ten places (docs/performance/reconciler.md).
 */
const PLACES: Readonly<Record<Compartment, number>> = { quick: 8, slow: 64 }
/** Most pages are read in much less time. */
const QUICK_FOR_MS = 3_000

/** Runs the sweeps of this process. Providers that do not answer leave places for those that do. */
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

  /** Runs one claim loop per compartment. If a place becomes free during the loop, the loop runs once more. */
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
