import type { SweepDocument } from '@backstop/contracts'
import type { Clock } from '@backstop/kit/clock'
import { Bulkhead } from '../reading/bulkhead.ts'
import { SWEEP_COMPARTMENTS, type SweepCompartment } from './sweep-store.ts'

export interface SweepPoolOptions {
  readonly clock: Clock
  /** Leases a due sweep; undefined if none is due. */
  claim(compartment: SweepCompartment): Promise<SweepDocument | undefined>
  /** Runs a claimed sweep. It must end within its deadline and must not throw. */
  run(sweep: SweepDocument, stopping: AbortSignal): Promise<void>
  onFailure(error: unknown): void
}

export interface SweepPool {
  /**
   * Begins to start due sweeps while there are free places. It does not wait: the claims of a long list must not delay the caller. When a
   * run ends, a further due sweep takes its place without another call.
   */
  fill(): void
  /** Aborts the runs and waits until they end. */
  stop(): Promise<void>
}

/**
 * Concurrent runs. A run that waits for a provider uses a socket and at most one page of memory. A failed sweep pauses
 * for seconds, so 200 connections that never answer need about ten places (docs/performance.md).
 */
const PLACES: Readonly<Record<SweepCompartment, number>> = { first: 32, quick: 8, slow: 64 }
/** Most pages are read in much less time. */
const QUICK_FOR_MS = 3_000

/**
 * Runs the sweeps of this process. Providers that do not answer leave places for those that do, and for new connections: 32 new
 * ones that never answer delay the next new one by three seconds.
 */
export function createSweepPool({ clock, claim, run, onFailure }: SweepPoolOptions): SweepPool {
  const stopping = new AbortController()
  const running = new Set<Promise<void>>()
  const filling = new Map<SweepCompartment, Promise<void>>()
  const wanted = new Set<SweepCompartment>()
  const bulkhead = new Bulkhead<SweepCompartment>({
    clock,
    places: PLACES,
    quickForMs: QUICK_FOR_MS,
    onFree: compartment => void fillOne(compartment),
  })

  async function claimAll(compartment: SweepCompartment): Promise<void> {
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
  async function fillOne(compartment: SweepCompartment): Promise<void> {
    wanted.add(compartment)
    const known = filling.get(compartment)
    if (known !== undefined) return known
    const loop = (async () => {
      while (wanted.delete(compartment)) await claimAll(compartment).catch(onFailure)
      filling.delete(compartment)
    })()
    filling.set(compartment, loop)
    await loop
  }

  return {
    fill() {
      for (const compartment of SWEEP_COMPARTMENTS) void fillOne(compartment)
    },
    async stop() {
      stopping.abort()
      await Promise.all(filling.values())
      await Promise.all(running)
    },
  }
}
