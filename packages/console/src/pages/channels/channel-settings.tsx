import type { AlertChannel } from '@backstop/client'
import { Button, Group } from '@mantine/core'
import { useState } from 'react'
import { channelQuery, storeChannel } from '../../api/channels.ts'
import { api, queryClient, refresh, useWrite } from '../../api/client.ts'
import { isLostRace, LostRace, useFields } from '../../parts/form/index.ts'
import { Problem } from '../../parts/page/index.ts'
import { Time } from '../../parts/show/index.ts'
import classes from './channel.module.css'
import { ChannelFacts } from './channel-facts.tsx'
import { ChannelForm } from './channel-form.tsx'
import { draftOf, findFaults, patchOf } from './draft.ts'
import { MessagePreview } from './message-preview.tsx'
import { SecretRotation } from './secret-rotation.tsx'

interface Props {
  channel: AlertChannel
  mayChange: boolean
}

/** The settings of a channel, and beside them the message that they make. */
export function ChannelSettings({ channel, mayChange }: Props) {
  const form = useChannelForm(channel)
  return (
    <div className={classes.sides}>
      {mayChange ? <SettingsForm channel={channel} form={form} /> : <ChannelFacts channel={channel} />}
      <MessagePreview kind={form.draft.kind} projectId={channel.project_id} draft={form.draft} />
    </div>
  )
}

/** What somebody types into the settings, and what saves it. */
function useChannelForm(channel: AlertChannel) {
  // The version that the form began with. Live updates of the health do not change what somebody types.
  const [base, setBase] = useState(channel)
  const { fields: draft, setFields, field, edit } = useFields(() => draftOf(channel))
  const patch = patchOf(draft, base)
  const { queryKey } = channelQuery(base.channel_id)
  const save = useWrite(
    (version: number) => api.alertChannels.change(base.channel_id, patch ?? {}, { ifVersion: version }),
    {
      onDone(changed) {
        storeChannel(changed)
        begin(changed)
      },
      onError: () => refresh(queryKey),
    },
  )
  const begin = (from: AlertChannel) => {
    setBase(from)
    setFields(draftOf(from))
    save.reset()
  }
  const followRotation = (changed: AlertChannel) => {
    queryClient.setQueryData<object>(queryKey, changed)
    if (patch === undefined) begin(changed)
    // After somebody else's change, the form keeps its version, so that saving it shows both.
    else if (changed.version === base.version + 1) setBase(changed)
  }
  return { base, draft, field, edit, patch, save, begin, followRotation }
}

function SettingsForm({ channel, form }: { channel: AlertChannel; form: ReturnType<typeof useChannelForm> }) {
  const { base, draft, field, edit, patch, save, begin, followRotation } = form
  const { config } = channel
  const faults = findFaults(draft, false)
  return (
    <ChannelForm
      draft={draft}
      faults={faults}
      field={field}
      edit={edit}
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
        <Problem error={save.error} what="The channel was not changed" />
      )}
      <Group gap={12}>
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
      </Group>
      {config.kind === 'webhook' && (
        <SecretRotation
          channelId={channel.channel_id}
          fingerprint={config.secret_fingerprint}
          previousExpiresAt={config.previous_secret_expires_at}
          onRotated={followRotation}
        />
      )}
    </ChannelForm>
  )
}
