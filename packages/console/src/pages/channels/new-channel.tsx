import { Button, Group } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, useWrite } from '../../api/client.ts'
import { useFields } from '../../parts/form/index.ts'
import { ManagersOnly, Problem, useProjectId } from '../../parts/page/index.ts'
import classes from './channel.module.css'
import { ChannelForm } from './channel-form.tsx'
import { EMPTY_DRAFT, findFaults, newChannelOf } from './draft.ts'
import { MessagePreview } from './message-preview.tsx'

export function Page() {
  return (
    <ManagersOnly title="New channel" above={['channels', 'Channels']}>
      <NewChannel />
    </ManagersOnly>
  )
}

/** The form of a channel, and beside it the message that it will send. */
function NewChannel() {
  const project = useProjectId()
  const navigate = useNavigate()
  const { fields: draft, field, edit } = useFields(EMPTY_DRAFT)
  const [isChecked, setIsChecked] = useState(false)
  const create = useWrite(() => api.alertChannels.create(newChannelOf(draft, project)), {
    refresh: [['channels', 'list']],
    onDone: ({ channel_id: id }) => navigate({ to: '/p/$project/channels/$id', params: { project, id } }),
  })
  const faults = findFaults(draft, true)
  const submit = () => {
    setIsChecked(true)
    if (Object.keys(faults).length === 0) create.mutate()
  }
  return (
    <div className={classes.sides}>
      <ChannelForm draft={draft} faults={isChecked ? faults : {}} field={field} edit={edit} isNew>
        <Problem error={create.error} what="The channel was not created" />
        <Group gap={12}>
          <Button loading={create.isPending} onClick={submit}>
            Create channel
          </Button>
          <span className="dim">You can test it on the next page.</span>
        </Group>
      </ChannelForm>
      <MessagePreview kind={draft.kind} projectId={project} draft={draft} />
    </div>
  )
}
