import { webhookChannel } from '@backstop/channels/test'
import { createManualClock } from '@backstop/kit/test'
import { describe, expect, test } from 'vitest'
import { ChannelDirectory } from './channel-directory.ts'
import type { ChannelStore } from './channel-store.ts'

/** A store in which every channel exists, and the ids of each read. */
function openDirectory() {
  const clock = createManualClock()
  const reads: string[][] = []
  const store: Pick<ChannelStore, 'findChannels'> = {
    async findChannels(ids) {
      reads.push([...ids])
      const project = { branding: {}, timeZone: 'UTC', suppressed: new Map() }
      const channelOf = (id: string) => webhookChannel(id, 'https://receiver.example.com/')
      return ids.map(id => ({
        channel: channelOf(id),
        disabledReason: null,
        project,
        deletedConnections: new Set<string>(),
      }))
    },
  }
  return { clock, reads, directory: new ChannelDirectory(store, clock) }
}

describe('cached channels', () => {
  test('are read once for concurrent lookups, and again after two seconds', async () => {
    const { clock, reads, directory } = openDirectory()
    await Promise.all([directory.find(['a', 'b']), directory.find(['b', 'c'])])
    await directory.find(['a'])
    expect(reads).toEqual([['a', 'b', 'c']])
    await clock.advance(2_001)
    await directory.find(['a'])
    expect(reads).toEqual([['a', 'b', 'c'], ['a']])
  })

  test('does not get lost when others are read in the same call and there is more than is kept', async () => {
    const { reads, directory } = openDirectory()
    const many = Array.from({ length: 20_001 }, (_, index) => `chn_${index}`)
    await directory.find(many)
    const found = await directory.find(['chn_0', 'chn_new'])
    expect(reads.at(-1)).toEqual(['chn_new'])
    expect(found.get('chn_0')?.channel._id).toBe('chn_0')
    expect(found.get('chn_new')?.channel._id).toBe('chn_new')
  })

  test('includes at once that this process disabled one', async () => {
    const { directory } = openDirectory()
    await directory.find(['a'])
    directory.markDisabled('a', 'Gone')
    expect((await directory.find(['a'])).get('a')?.disabledReason).toBe('Gone')
  })
})
