import type { AlertChannel } from '@backstop/client'
import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { channelList, channelQuery } from '../../api/channels.ts'
import { api } from '../../api/client.ts'
import { mergeIntoLists } from '../../api/list-cache.ts'
import { isLostRace } from '../../parts/is-lost-race.ts'
import { LostRace } from '../../parts/lost-race.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import classes from './channel.module.css'
import { ChannelFacts } from './channel-facts.tsx'
import { ChannelForm } from './channel-form.tsx'
import { draftOf, findFaults, patchOf } from './draft.ts'
import { MessagePreview } from './message-preview.tsx'
import { settingsOf, targetOf } from './preview-settings.ts'
import { SecretRotation } from './secret-rotation.tsx'

interface Props {
  channel: AlertChannel
  mayChange: boolean
}

/** The settings of a channel, and beside them the message that they make. */
export function ChannelSettings({ channel, mayChange }: Props) {
  const queryClient = useQueryClient()
  /** The version that the form began with. Live updates of the health do not change what somebody types. */
  const [base, setBase] = useState(channel)
  const [draft, setDraft] = useState(() => draftOf(channel))
  const patch = patchOf(draft, base)
  const faults = findFaults(draft, false)
  const begin = (from: AlertChannel) => {
    setBase(from)
    setDraft(draftOf(from))
    save.reset()
  }
  const save = useMutation({
    mutationFn: (version: number) => api.alertChannels.change(base.channel_id, patch ?? {}, { ifVersion: version }),
    onSuccess: changed => {
      queryClient.setQueryData(channelQuery(changed.channel_id).queryKey, changed)
      mergeIntoLists(queryClient, channelList, changed)
      begin(changed)
    },
    onError: () => queryClient.invalidateQueries({ queryKey: channelQuery(base.channel_id).queryKey }),
  })
  const config = channel.config
  return (
    <div className={classes.sides}>
      {mayChange ? (
        <ChannelForm
          draft={draft}
          faults={faults}
          change={changed => setDraft({ ...draft, ...changed })}
          projectId={channel.project_id}
          isNew={false}
          headerNames={config.kind === 'webhook' ? config.header_names : []}
        >
          {isLostRace(save.error) ? (
            <LostRace
              theirs={
                <>
                  “{channel.name}”, changed <Time at={channel.updated_at} />
                </>
              }
              yours={`Change ${Object.keys(patch ?? {})
                .join(', ')
                .replaceAll('_', ' ')}`}
              onKeepTheirs={() => begin(channel)}
              onApplyYours={() => save.mutate(channel.version)}
            />
          ) : (
            save.error !== null && <Problem error={save.error} what="The channel was not changed" />
          )}
          <div className={classes.buttons}>
            <Button
              disabled={patch === undefined || Object.keys(faults).length > 0}
              loading={save.isPending}
              onClick={() => save.mutate(base.version)}
            >
              Save changes
            </Button>
            {patch !== undefined && (
              <Button variant="default" onClick={() => begin(channel)}>
                Discard
              </Button>
            )}
          </div>
          {config.kind === 'webhook' && (
            <SecretRotation
              channelId={channel.channel_id}
              fingerprint={config.secret_fingerprint}
              previousExpiresAt={config.previous_secret_expires_at}
              onRotated={changed => {
                queryClient.setQueryData(channelQuery(changed.channel_id).queryKey, changed)
                if (patch === undefined) begin(changed)
                // After somebody else's change, the form keeps its version, so that saving it shows both.
                else if (changed.version === base.version + 1) setBase(changed)
              }}
            />
          )}
        </ChannelForm>
      ) : (
        <ChannelFacts channel={channel} />
      )}
      <MessagePreview
        kind={draft.kind}
        projectId={channel.project_id}
        settings={settingsOf(draft)}
        target={targetOf(draft)}
      />
    </div>
  )
}
