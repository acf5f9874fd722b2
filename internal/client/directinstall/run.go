package directinstall

import "context"

// Run is Install for module developers: the same version may come with other content, or after a higher one, and what could be
// managed need not be. A module that a Kyma manages is refused here, too.
func Run(ctx context.Context, plan Plan) (Report, error) {
	plan.Unmanaged, plan.AllowDowngrade, plan.AllowOtherContent = true, true, true
	return Install(ctx, plan)
}

// CleanUp takes down what Run brought, with everything that was made with the module.
func CleanUp(ctx context.Context, removal Removal) (Report, error) {
	shown, err := Preview(ctx, removal)
	if err != nil {
		return Report{Module: removal.Module}, err
	}
	removal.Cascade, removal.Previewed = true, shown
	return Delete(ctx, removal)
}
