import { Link } from '@tanstack/react-router'
import { PageHead } from '../../parts/page-head.tsx'
import { useProjectId } from '../../parts/use-route.ts'
import { DeliveryList } from './delivery-list.tsx'

/** All deliveries of a project. */
export function Page() {
  const projectId = useProjectId()
  return (
    <>
      <PageHead
        title="Deliveries"
        above={
          <Link to="/p/$project/channels" params={{ project: projectId }}>
            Channels
          </Link>
        }
      />
      <DeliveryList projectId={projectId} />
    </>
  )
}
