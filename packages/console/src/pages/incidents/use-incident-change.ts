import type { Incident } from '@backstop/client'
import { useState } from 'react'
import { api, refresh, useWrite } from '../../api/client.ts'
import { incidentQuery } from '../../api/incidents.ts'
import { isLostRace } from '../../parts/form/index.ts'
import type { Resolution } from './words.ts'

/** A change of the life cycle that a person asks for. */
export type Change =
  | { readonly kind: 'acknowledge' }
  | { readonly kind: 'resolve'; readonly resolution: Resolution }
  | { readonly kind: 'assign'; readonly assignee: string | null }
  | { readonly kind: 'reopen' }
  | { readonly kind: 'comment'; readonly text: string }

export interface Attempt {
  readonly change: Change
  /** The version that the person saw. Without it, the change is applied to whatever is there. */
  readonly version?: number
}

/** @param id the id of an incident or of a storm */
export function sendChange(id: string, { change, version }: Attempt) {
  const options = version === undefined ? {} : { ifVersion: version }
  switch (change.kind) {
    case 'acknowledge':
      return api.incidents.acknowledge(id, options)
    case 'resolve':
      return api.incidents.resolve(id, change.resolution, options)
    case 'assign':
      return api.incidents.assign(id, { assignee: change.assignee }, options)
    case 'reopen':
      return api.incidents.reopen(id, options)
    case 'comment':
      return api.incidents.comment(id, { text: change.text }, options)
    default:
      throw change satisfies never
  }
}

const POSSIBLE_IN: Record<Change['kind'], readonly Incident['state'][]> = {
  acknowledge: ['open'],
  resolve: ['open', 'acknowledged'],
  assign: ['open', 'acknowledged', 'resolved'],
  reopen: ['resolved'],
  comment: ['open', 'acknowledged', 'resolved'],
}

export function isPossible({ kind }: Change, { state }: Pick<Incident, 'state'>): boolean {
  return POSSIBLE_IN[kind].includes(state)
}

/** Sends changes of one incident. A change that lost a race is kept in `lost` until the person decides. */
export function useIncidentChange(id: string) {
  const [lost, setLost] = useState<Change>()
  const reread = () => refresh(incidentQuery(id).queryKey)
  const { error, isPending, mutateAsync, reset, variables } = useWrite((attempt: Attempt) => sendChange(id, attempt), {
    async onDone() {
      void refresh(['incidents', 'list'])
      await reread()
      setLost(undefined)
    },
    async onError(error, { change }) {
      if (!isLostRace(error)) return
      // Both versions are shown, so the incident has to be the one that won.
      await reread()
      setLost(change)
    },
  })
  return {
    lost,
    isPending,
    error: error !== null && !isLostRace(error) ? error : null,
    /** The change that `error` is about. */
    failed: error === null ? undefined : variables?.change.kind,
    /** @returns whether the change was made */
    send: (attempt: Attempt) =>
      mutateAsync(attempt).then(
        () => true,
        () => false,
      ),
    forget() {
      setLost(undefined)
      reset()
    },
  }
}
