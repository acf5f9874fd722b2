package directinstall

import "context"

// Run is Install for module developers: the same version may have changed content or follow a higher one, and a manageable module is
// installed unmanaged. A module that a Kyma manages is refused here, too.
func Run(ctx context.Context, plan Plan) (Report, error) {
	plan.Unmanaged, plan.AllowDowngrade, plan.AllowOtherContent = true, true, true
	return Install(ctx, plan)
}

// CleanUp removes what Run installed, and all objects that were made with the module.
func CleanUp(ctx context.Context, removal Removal) (Report, error) {
	shown, err := Preview(ctx, removal)
	if err != nil {
		return Report{Module: removal.Module}, err
	}
	removal.Cascade, removal.Previewed = true, shown
	return Delete(ctx, removal)
}
