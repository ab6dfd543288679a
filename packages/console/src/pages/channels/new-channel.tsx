import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { ManagersOnly } from '../../parts/managers-only.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useProjectId } from '../../parts/use-route.ts'
import classes from './channel.module.css'
import { ChannelForm } from './channel-form.tsx'
import { type Draft, EMPTY_DRAFT, findFaults, newChannelOf } from './draft.ts'
import { MessagePreview } from './message-preview.tsx'
import { settingsOf, targetOf } from './preview-settings.ts'

export function Page() {
  const above = (
    <Link to="/p/$project/channels" params={{ project: useProjectId() }}>
      Channels
    </Link>
  )
  return (
    <ManagersOnly title="New channel" above={above}>
      <NewChannel />
    </ManagersOnly>
  )
}

/** The form of a channel, and beside it the message that it will send. */
function NewChannel() {
  const projectId = useProjectId()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [draft, setDraft] = useState<Draft>(EMPTY_DRAFT)
  const [isChecked, setIsChecked] = useState(false)
  const create = useMutation({
    mutationFn: () => api.alertChannels.create(newChannelOf(draft, projectId)),
    onSuccess: async ({ channel_id }) => {
      await queryClient.invalidateQueries({ queryKey: ['channels', 'list'] })
      await navigate({ to: '/p/$project/channels/$id', params: { project: projectId, id: channel_id } })
    },
  })
  const faults = findFaults(draft, true)
  const submit = () => {
    setIsChecked(true)
    if (Object.keys(faults).length === 0) create.mutate()
  }
  return (
    <div className={classes.sides}>
      <ChannelForm
        draft={draft}
        faults={isChecked ? faults : {}}
        change={changed => setDraft({ ...draft, ...changed })}
        projectId={projectId}
        isNew
      >
        {create.error !== null && <Problem error={create.error} what="The channel was not created" />}
        <div className={classes.buttons}>
          <Button loading={create.isPending} onClick={submit}>
            Create channel
          </Button>
          <span className="dim">You can test it on the next page.</span>
        </div>
      </ChannelForm>
      <MessagePreview kind={draft.kind} projectId={projectId} settings={settingsOf(draft)} target={targetOf(draft)} />
    </div>
  )
}
