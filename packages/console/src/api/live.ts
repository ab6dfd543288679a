import {
  type Action,
  type AlertChannel,
  ApiProblem,
  type Connection,
  type Delivery,
  type Incident,
} from '@backstop/client'
import { useEffect, useSyncExternalStore } from 'react'
import { actionList } from './actions.ts'
import { channelList, deliveryList } from './channels.ts'
import { api, queryClient } from './client.ts'
import { connectionList } from './connections.ts'
import { incidentList } from './incidents.ts'
import { type ListDefinition, mergeIntoLists, readAgain, readListsAgain } from './list-cache.ts'
import { liveRetryWait } from './live-retry.ts'

/** The state of the live stream of the open project. */
export type LiveState =
  | { readonly kind: 'off' }
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  | { readonly kind: 'lost'; readonly sinceMs: number }

/** The event types of docs/live.md. */
interface LiveEvents {
  incident: Incident
  action: Action
  delivery: Delivery
  connection: Connection
  channel: AlertChannel
}
export type LiveEvent = { [K in keyof LiveEvents]: { type: K; data: LiveEvents[K] } }[keyof LiveEvents]

const RESOURCES = ['incidents', 'actions', 'deliveries', 'connections', 'channels', 'storms', 'stats'] as const

let state: LiveState = { kind: 'off' }
const stateListeners = new Set<() => void>()
const eventListeners = new Set<(event: LiveEvent) => void>()

function setState(next: LiveState): void {
  state = next
  for (const listener of stateListeners) listener()
}

/** The state of the live stream, for the sign that says since when it is lost. */
export function useLiveState(): LiveState {
  return useSyncExternalStore(
    listener => {
      stateListeners.add(listener)
      return () => stateListeners.delete(listener)
    },
    () => state,
  )
}

/** Calls `listen` for each live event of the open project, after it was written into the query cache. */
export function useLiveEvents(listen: (event: LiveEvent) => void): void {
  useEffect(() => {
    eventListeners.add(listen)
    return () => void eventListeners.delete(listen)
  }, [listen])
}

/** Keeps the live stream of a project open while the component is shown. */
export function useLiveStream(projectId: string): void {
  useEffect(() => openStream(projectId), [projectId])
}

function openStream(projectId: string): () => void {
  let source: EventSource
  let timer: ReturnType<typeof setTimeout> | undefined
  let refusals = 0
  let isClosed = false
  let lastEventId = ''
  const open = () => {
    const query = new URLSearchParams({ project_id: projectId })
    if (lastEventId !== '') query.set('last_event_id', lastEventId)
    source = new EventSource(`/v1/live?${query}`)
    source.onopen = () => {
      refusals = 0
      // Without a position, the stream begins now: what was read before may miss a change that is in no event.
      if (lastEventId === '') readLiveAgain()
      if (state.kind === 'lost') readOthersAgain()
      setState({ kind: 'live' })
    }
    source.onerror = () => {
      markLost()
      // The browser reconnects by itself after a broken connection, and never after an error status.
      if (source.readyState !== EventSource.CLOSED) return
      refusals++
      void askWhy().then(askedMs => {
        if (!isClosed) timer = setTimeout(open, liveRetryWait(refusals, askedMs, Math.random()))
      })
    }
    const listen = <K extends LiveEvent['type']>(type: K, list: ListDefinition<LiveEvents[K], never>) =>
      source.addEventListener(type, ({ data, lastEventId: id }) => {
        lastEventId = id
        receive({ type, data: JSON.parse(data) } as LiveEvent, list as ListDefinition<unknown, never>)
      })
    listen('incident', incidentList as ListDefinition<Incident, never>)
    listen('action', actionList as ListDefinition<Action, never>)
    listen('delivery', deliveryList as ListDefinition<Delivery, never>)
    listen('connection', connectionList as ListDefinition<Connection, never>)
    listen('channel', channelList as ListDefinition<AlertChannel, never>)
    source.addEventListener('reset', ({ lastEventId: id }) => {
      lastEventId = id
      readLiveAgain()
    })
  }
  const markLost = () => {
    if (state.kind !== 'lost') setState({ kind: 'lost', sinceMs: Date.now() })
  }
  // A connection that was cut may look open for minutes, so what the browser knows of its network counts.
  const reopen = () => {
    clearTimeout(timer)
    source.close()
    open()
  }
  window.addEventListener('offline', markLost)
  window.addEventListener('online', reopen)
  setState({ kind: 'connecting' })
  open()
  return () => {
    isClosed = true
    window.removeEventListener('offline', markLost)
    window.removeEventListener('online', reopen)
    clearTimeout(timer)
    source.close()
    setState({ kind: 'off' })
  }
}

/**
 * An EventSource does not show the answer that refused it, so another request asks. If nobody is signed in any more, this request
 * reports it. @returns the wait that its answer asks for, if it is refused too
 */
async function askWhy(): Promise<number | undefined> {
  try {
    await queryClient.fetchQuery({ queryKey: ['me'], queryFn: () => api.me.get(), staleTime: 0, networkMode: 'always' })
    return undefined
  } catch (error) {
    return error instanceof ApiProblem ? error.retryAfterMs : undefined
  }
}

/** Reads everything that live events keep fresh. */
function readLiveAgain(): void {
  for (const resource of RESOURCES) readListsAgain(queryClient, resource)
}

/** After an outage: what failed, and what has no live events, may be out of date. The stream itself resumes where it stopped. */
function readOthersAgain(): void {
  readAgain(queryClient, {
    predicate: ({ queryKey, state: { error } }) =>
      error !== null || !(RESOURCES as readonly unknown[]).includes(queryKey[0]),
  })
}

function receive(event: LiveEvent, list: ListDefinition<unknown, never>): void {
  const { resource } = list
  const id = list.idOf(event.data)
  mergeIntoLists(queryClient, list, event.data)
  queryClient.setQueryData<object>([resource, 'one', id], old => old && { ...old, ...wholePartOf(event) })
  // The event has less than the GET: no timeline, no deliveries. An open page reads them again.
  readAgain(queryClient, { queryKey: [resource, 'one', id] })
  for (const listener of eventListeners) listener(event)
}

/** What an open page can show at once. The incident of an event has only some fields of its action, and the page shows all of them. */
function wholePartOf(event: LiveEvent): object {
  if (event.type !== 'incident') return event.data
  const { action: _, ...incident } = event.data as Incident & { action?: unknown }
  return incident
}
