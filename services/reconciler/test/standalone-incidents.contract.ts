import { openRequestedIncident } from '@backstop/verdict'
import { PROJECT, T0 } from '@backstop/verdict/test'
import { beforeEach, describe, expect, test } from 'vitest'
import type { StandaloneIncidentStore } from '../src/incidents/standalone-incident-store.ts'
import type { ReconcilerStores } from '../src/stores.ts'

/** The tests for every implementation of the store of incidents without an action. Each test gets an empty store. */
export function standaloneIncidentContract(
  name: string,
  open: () => Promise<Pick<ReconcilerStores, 'standaloneIncidents'>>,
): void {
  describe(`standalone incidents, ${name}`, () => {
    let incidents: StandaloneIncidentStore
    beforeEach(async () => {
      incidents = (await open()).standaloneIncidents
    })

    test('an incident of a channel is opened once, with its messages, which are swept until they are published', async () => {
      const opened = channelIncident()
      const id = opened.incident.incident_id
      expect(await incidents.find(id)).toBeUndefined()
      expect(await incidents.pendingOf(id)).toEqual({ documentId: id, entries: [] })
      const pending = { documentId: id, entries: opened.entries }
      expect(await incidents.open(opened)).toEqual(pending)
      expect(await incidents.open({ ...opened, entries: [] })).toEqual(pending)
      expect(await incidents.find(id)).toEqual(opened.incident)
      expect(await incidents.outbox.pending(T0, 10)).toEqual([])
      expect(await incidents.outbox.pending(T0 + 1, 10)).toEqual([pending])
      const entryIds = opened.entries.map(entry => entry.id)
      await incidents.outbox.published([{ documentId: id, entryIds }])
      expect(await incidents.outbox.pending(T0 + 1, 10)).toEqual([])
    })

    test('one of two writers of an incident of a channel succeeds, and its messages are added', async () => {
      const opened = channelIncident()
      await incidents.open(opened)
      const next = { ...opened, incident: { ...opened.incident, state: 'resolved' as const, version: 2 } }
      const added = { ...next, entries: [{ ...opened.entries[0]!, id: 'msg_more' }] }
      expect((await incidents.replace(added))?.entries).toEqual([...opened.entries, ...added.entries])
      expect(await incidents.replace(added)).toBeUndefined()
      expect(await incidents.find(opened.incident.incident_id)).toMatchObject({ state: 'resolved', version: 2 })
    })
  })
}

function channelIncident() {
  return openRequestedIncident(
    {
      kind: 'open_channel_incident',
      command_id: 'cmd_1',
      project_id: PROJECT,
      requested_at: new Date(T0).toISOString(),
      incident_id: 'inc_channel',
      channel_id: 'chn_1',
      channel_name: 'Ops',
      reason: 'Gone',
    },
    T0,
  )
}
