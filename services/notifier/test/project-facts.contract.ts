/** The suite for reading a channel with the facts of its project, in memory and on MongoDB. */

import type { ChannelDocument } from '@backstop/channels'
import { emailChannel, PROJECT, webhookChannel } from '@backstop/channels/test'
import type {
  ConnectionDocument,
  ErasedActionDocument,
  ProjectDocument,
  SuppressionDocument,
} from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import type { ChannelStore } from '../src/channels/channel-store.ts'

export interface ProjectFactsUnderTest {
  readonly channels: ChannelStore
  put(documents: {
    channels: readonly ChannelDocument[]
    projects: readonly ProjectDocument[]
    suppressions: readonly SuppressionDocument[]
    connections: readonly Pick<ConnectionDocument, '_id' | 'project_id' | 'name' | 'status'>[]
    erased_actions: readonly ErasedActionDocument[]
  }): Promise<void>
}

const AT = new Date('2026-11-21T10:00:00.000Z')

function suppression(address: string, facts: Partial<SuppressionDocument> = {}): SuppressionDocument {
  const projectId = facts.project_id ?? PROJECT
  return {
    _id: `${projectId}/${address}`,
    project_id: projectId,
    address,
    reason: 'unsubscribed',
    detail: null,
    soft_bounces: [],
    suppressed_at: AT,
    updated_at: AT,
    ...facts,
  }
}

export function describeProjectFacts(name: string, open: () => Promise<ProjectFactsUnderTest>): void {
  describe(`${name}: a channel is read with`, () => {
    test("its project's look, its deleted connections, and those of its addresses that get no mail of this project", async () => {
      const { channels, put } = await open()
      const branding = { name: 'Acme', accent_colour: '#112233' }
      await put({
        projects: [
          {
            _id: PROJECT,
            name: 'Acme',
            branding,
            time_zone: 'Europe/Berlin',
            version: 1,
            created_at: AT,
            updated_at: AT,
          },
        ],
        channels: [
          emailChannel('chn_mail', [
            'Left@Example.com',
            'stays@example.com',
            'counted@example.com',
            'other@example.com',
          ]),
          webhookChannel('chn_hook', 'https://receiver.example.com/'),
          emailChannel('chn_alone', ['left@example.com'], { project_id: 'prj_unknown' }),
        ],
        suppressions: [
          suppression('left@example.com'),
          suppression('counted@example.com', { reason: null, suppressed_at: null }),
          suppression('other@example.com', { project_id: 'prj_2' }),
          suppression('elsewhere@example.com'),
        ],
        connections: [
          { _id: 'con_deleted', project_id: PROJECT, name: 'One', status: 'deleted' },
          { _id: 'con_active', project_id: PROJECT, name: 'Two', status: 'active' },
          { _id: 'con_of_other', project_id: 'prj_2', name: 'Three', status: 'deleted' },
        ],
        erased_actions: [
          { _id: 'act_erased', project_id: PROJECT, at: AT },
          { _id: 'act_of_other', project_id: 'prj_2', at: AT },
        ],
      })
      const found = await channels.findChannels(['chn_mail', 'chn_hook', 'chn_alone'])
      const projectOf = (id: string) => found.find(({ channel }) => channel._id === id)?.project
      const look = { branding, timeZone: 'Europe/Berlin' }
      expect(projectOf('chn_mail')).toEqual({ ...look, suppressed: new Map([['left@example.com', 'unsubscribed']]) })
      expect(projectOf('chn_hook')).toEqual({ ...look, suppressed: new Map() })
      expect(projectOf('chn_alone')).toEqual({ branding: {}, timeZone: 'UTC', suppressed: new Map() })
      const deleted = found.map(({ deletedConnections }) => [...deletedConnections])
      expect(deleted.sort()).toEqual([[], ['con_deleted'], ['con_deleted']])
      const names = await channels.findNames([PROJECT])
      expect(names.get(PROJECT)?.deletedConnections).toEqual(new Set(['con_deleted']))
      expect(await channels.findErasedActions(['act_erased', 'act_kept'])).toEqual(new Set(['act_erased']))
      // The channel itself contains no joined field.
      const mail = emailChannel('chn_mail', [])
      expect(Object.keys(found.find(one => one.channel._id === 'chn_mail')?.channel ?? {}).sort()).toEqual(
        Object.keys(mail).sort(),
      )
    })
  })
}
